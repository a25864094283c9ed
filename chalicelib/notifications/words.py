# ruff: noqa: RUF001 - alphabets have letters that look alike
"""Words of letters of notifications and of the pages of their links."""

from typing import NamedTuple

from chalicelib.languages import Language


class MailWords(NamedTuple):
    """The words of notification letters, of the confirmation letter, and of the links' pages.

    `letter` contains `{link}`, and `question` contains `{email}`.
    """

    notifications: str
    open: str
    more: str
    why: str
    confirm: str
    letter: str
    question: str
    yes: str
    confirmed: str
    stop: str
    stop_question: str
    stopped: str


# In the order of the fields. Native speakers have read only English and German so far.
MAIL_WORDS: dict[Language, MailWords] = {
    "ar": MailWords(
        "الإشعارات",
        "افتح",
        "هناك المزيد في صندوق إشعاراتك.",
        "تصلك هذه الرسالة لأنك طلبتها.",
        "أكّد عنوانك",
        "طلب أحدهم إرسال الإشعارات إلى هذا العنوان.\n\n"
        "إن كنت أنت، فافتح هذا الرابط خلال يوم واضغط الزر:\n\n{link}\n\n"
        "وإن لم تكن أنت، فلا تفعل شيئًا.\n",
        "هل تريد أن تصل الإشعارات إلى {email}؟",
        "نعم، أرسلها",
        "ستصل الإشعارات إلى هذا العنوان.",
        "إيقاف هذه الرسائل",
        "هل تريد ألا تصلك رسائل الإشعارات بعد الآن؟",
        "لن تصلك رسائل إشعارات أخرى.",
    ),
    "de": MailWords(
        "Benachrichtigungen",
        "Öffnen",
        "Weitere stehen bei deinen Benachrichtigungen.",
        "Du bekommst diesen Brief, weil du ihn bestellt hast.",
        "Bestätige deine Adresse",
        "Jemand möchte Benachrichtigungen an diese Adresse bekommen.\n\n"
        "Wenn du das bist, öffne innerhalb eines Tages diesen Link und drücke auf den Knopf:\n\n"
        "{link}\n\nWenn du es nicht bist, tu nichts.\n",
        "Möchtest du Benachrichtigungen an {email} bekommen?",
        "Ja, schickt sie mir",
        "Benachrichtigungen kommen jetzt an diese Adresse.",
        "Diese Briefe abbestellen",
        "Möchtest du keine Briefe mit Benachrichtigungen mehr?",
        "Es kommen keine Briefe mit Benachrichtigungen mehr.",
    ),
    "en": MailWords(
        "Notifications",
        "Open",
        "There are more among your notifications.",
        "You get this letter because you asked for it.",
        "Confirm your address",
        "A reader wants to get notifications at this address.\n\n"
        "If that is you, open this link within a day and press the button:\n\n{link}\n\n"
        "If it is not you, do nothing.\n",
        "Do you want to get notifications at {email}?",
        "Yes, send them",
        "Notifications come to this address now.",
        "Turn these letters off",
        "Do you want no more letters of notifications?",
        "You get no more letters of notifications.",
    ),
    "es": MailWords(
        "Notificaciones",
        "Abrir",
        "Hay más entre tus notificaciones.",
        "Recibes esta carta porque la has pedido.",
        "Confirma tu dirección",
        "Alguien quiere recibir notificaciones en esta dirección.\n\n"
        "Si eres tú, abre este enlace en el plazo de un día y pulsa el botón:\n\n{link}\n\n"
        "Si no eres tú, no hagas nada.\n",
        "¿Quieres recibir notificaciones en {email}?",
        "Sí, enviarlas",
        "Las notificaciones llegan ahora a esta dirección.",
        "No recibir más estas cartas",
        "¿No quieres recibir más cartas de notificaciones?",
        "Ya no recibirás cartas de notificaciones.",
    ),
    "fr": MailWords(
        "Notifications",
        "Ouvrir",
        "Il y en a d’autres parmi vos notifications.",
        "Vous recevez cette lettre parce que vous l’avez demandée.",
        "Confirmez votre adresse",
        "Quelqu’un veut recevoir des notifications à cette adresse.\n\n"
        "Si c’est vous, ouvrez ce lien dans la journée et appuyez sur le bouton :\n\n{link}\n\n"
        "Si ce n’est pas vous, ne faites rien.\n",
        "Voulez-vous recevoir des notifications à {email} ?",
        "Oui, les envoyer",
        "Les notifications arrivent désormais à cette adresse.",
        "Ne plus recevoir ces lettres",
        "Ne voulez-vous plus recevoir de lettres de notifications ?",
        "Vous ne recevrez plus de lettres de notifications.",
    ),
    "it": MailWords(
        "Notifiche",
        "Apri",
        "Ce ne sono altre tra le tue notifiche.",
        "Ricevi questa lettera perché l’hai chiesta.",
        "Conferma il tuo indirizzo",
        "Qualcuno vuole ricevere notifiche a questo indirizzo.\n\n"
        "Se sei tu, apri questo link entro un giorno e premi il pulsante:\n\n{link}\n\n"
        "Se non sei tu, non fare nulla.\n",
        "Vuoi ricevere notifiche a {email}?",
        "Sì, inviale",
        "Le notifiche arrivano ora a questo indirizzo.",
        "Non ricevere più queste lettere",
        "Non vuoi più ricevere lettere di notifiche?",
        "Non riceverai più lettere di notifiche.",
    ),
    "ja": MailWords(
        "通知",
        "開く",
        "ほかにも通知があります。",
        "このメールは、ご希望によりお送りしています。",
        "アドレスの確認",
        "このアドレスで通知を受け取りたいという要求がありました。\n\n"
        "ご本人の場合は、1 日以内に次のリンクを開いてボタンを押してください。\n\n{link}\n\n"
        "心当たりがない場合は、何もする必要はありません。\n",
        "{email} で通知を受け取りますか？",
        "はい、受け取ります",
        "このアドレスに通知が届くようになりました。",
        "このメールを停止する",
        "通知のメールを停止しますか？",
        "通知のメールは今後届きません。",
    ),
    "nl": MailWords(
        "Meldingen",
        "Openen",
        "Er staan er meer bij je meldingen.",
        "Je krijgt deze brief omdat je erom hebt gevraagd.",
        "Bevestig je adres",
        "Iemand wil meldingen op dit adres krijgen.\n\n"
        "Ben jij dat, open dan binnen een dag deze link en druk op de knop:\n\n{link}\n\n"
        "Ben jij het niet, doe dan niets.\n",
        "Wil je meldingen krijgen op {email}?",
        "Ja, stuur ze",
        "Meldingen komen nu op dit adres aan.",
        "Deze brieven stoppen",
        "Wil je geen brieven met meldingen meer?",
        "Je krijgt geen brieven met meldingen meer.",
    ),
    "pl": MailWords(
        "Powiadomienia",
        "Otwórz",
        "Pozostałe znajdziesz wśród powiadomień.",
        "Otrzymujesz ten list na własną prośbę.",
        "Potwierdź swój adres",
        "Ktoś chce otrzymywać powiadomienia na ten adres.\n\n"
        "Jeśli to ty, otwórz ten odnośnik w ciągu doby i naciśnij przycisk:\n\n{link}\n\n"
        "Jeśli to nie ty, nie rób nic.\n",
        "Czy chcesz otrzymywać powiadomienia na adres {email}?",
        "Tak, wysyłajcie",
        "Powiadomienia będą przychodzić na ten adres.",
        "Wyłącz te listy",
        "Czy nie chcesz już otrzymywać listów z powiadomieniami?",
        "Listy z powiadomieniami nie będą już przychodzić.",
    ),
    "pt-br": MailWords(
        "Notificações",
        "Abrir",
        "Há mais entre as suas notificações.",
        "Você recebe esta carta porque a pediu.",
        "Confirme seu endereço",
        "Alguém quer receber notificações neste endereço.\n\n"
        "Se for você, abra este link dentro de um dia e pressione o botão:\n\n{link}\n\n"
        "Se não for você, não faça nada.\n",
        "Você quer receber notificações em {email}?",
        "Sim, enviar",
        "As notificações chegam agora a este endereço.",
        "Não receber mais estas cartas",
        "Você não quer mais receber cartas de notificações?",
        "Você não receberá mais cartas de notificações.",
    ),
    "ru": MailWords(
        "Уведомления",
        "Открыть",
        "Остальные — среди ваших уведомлений.",
        "Вы получаете это письмо по вашей просьбе.",
        "Подтвердите свой адрес",
        "Кто-то хочет получать уведомления на этот адрес.\n\n"
        "Если это вы, откройте эту ссылку в течение суток и нажмите на кнопку:\n\n{link}\n\n"
        "Если это не вы, ничего не делайте.\n",
        "Хотите получать уведомления на адрес {email}?",
        "Да, присылайте",
        "Уведомления теперь приходят на этот адрес.",
        "Отключить эти письма",
        "Больше не присылать вам писем с уведомлениями?",
        "Письма с уведомлениями больше не придут.",
    ),
    "uk": MailWords(
        "Сповіщення",
        "Відкрити",
        "Решта — серед ваших сповіщень.",
        "Ви отримуєте цей лист на ваше прохання.",
        "Підтвердьте свою адресу",
        "Хтось хоче отримувати сповіщення на цю адресу.\n\n"
        "Якщо це ви, відкрийте це посилання протягом доби й натисніть на кнопку:\n\n{link}\n\n"
        "Якщо це не ви, нічого не робіть.\n",
        "Бажаєте отримувати сповіщення на адресу {email}?",
        "Так, надсилайте",
        "Сповіщення тепер надходять на цю адресу.",
        "Вимкнути ці листи",
        "Більше не надсилати вам листів зі сповіщеннями?",
        "Листи зі сповіщеннями більше не надходитимуть.",
    ),
    "zh-cn": MailWords(
        "通知",
        "打开",
        "更多内容请查看你的通知。",
        "你收到此邮件，是因为你要求接收。",
        "请确认你的地址",
        "有人想在这个地址接收通知。\n\n"
        "如果是你本人，请在一天内打开以下链接并按下按钮：\n\n{link}\n\n"
        "如果不是你，请不必理会。\n",
        "要在 {email} 接收通知吗？",
        "是的，发送给我",
        "通知现在会发送到这个地址。",
        "停止发送这些邮件",
        "不再接收通知邮件吗？",
        "你不会再收到通知邮件。",
    ),
}
