"""Words of sign-in letters to earlier guests, and of the pages of their links."""

from chalicelib.comments.sign_in.words import Words

SIGN_IN_WORDS: dict[str, Words] = {
    "ar": {
        "subject": "الكتابة مجددًا في {site}",
        "letter": (
            "يريد أحدهم الكتابة في {site} بالاسم المرتبط بهذا العنوان.\n\n"
            "إن كنت أنت، فافتح هذا الرابط خلال 15 دقيقة واضغط الزر:\n\n"
            "{link}\n\n"
            "وإن لم تكن أنت، فلا تفعل شيئًا.\n"
        ),
        "title": "الكتابة مجددًا في {site}",
        "question": "هل تريد الكتابة في {site} باسم {name}؟",
        "yes": "نعم، متابعة",
    },
    "de": {
        "subject": "Wieder auf {site} schreiben",
        "letter": (
            "Jemand möchte auf {site} unter dem Namen schreiben, der zu dieser Adresse "
            "gehört.\n\n"
            "Wenn du das bist, öffne innerhalb von 15 Minuten diesen Link und drücke auf "
            "den Knopf:\n\n"
            "{link}\n\n"
            "Wenn du es nicht bist, tu nichts.\n"
        ),
        "title": "Wieder auf {site} schreiben",
        "question": "Möchtest du auf {site} als {name} schreiben?",
        "yes": "Ja, weiter",
    },
    "en": {
        "subject": "Write at {site} again",
        "letter": (
            "A reader wants to write at {site} under the name that belongs to this "
            "address.\n\n"
            "If that is you, open this link within 15 minutes and press the button:\n\n"
            "{link}\n\n"
            "If it is not you, do nothing.\n"
        ),
        "title": "Write at {site} again",
        "question": "Do you want to write at {site} as {name}?",
        "yes": "Yes, go on",
    },
    "es": {
        "subject": "Volver a escribir en {site}",
        "letter": (
            "Alguien quiere escribir en {site} con el nombre de esta dirección.\n\n"
            "Si eres tú, abre este enlace en 15 minutos y pulsa el botón:\n\n"
            "{link}\n\n"
            "Si no eres tú, no hagas nada.\n"
        ),
        "title": "Volver a escribir en {site}",
        "question": "¿Quieres escribir en {site} como {name}?",
        "yes": "Sí, continuar",
    },
    "fr": {
        "subject": "Écrire à nouveau sur {site}",
        "letter": (
            "Quelqu’un veut écrire sur {site} sous le nom lié à cette adresse.\n\n"
            "Si c’est vous, ouvrez ce lien dans les 15 minutes et appuyez sur le bouton :\n\n"
            "{link}\n\n"
            "Si ce n’est pas vous, ne faites rien.\n"
        ),
        "title": "Écrire à nouveau sur {site}",
        "question": "Voulez-vous écrire sur {site} en tant que {name} ?",
        "yes": "Oui, continuer",
    },
    "it": {
        "subject": "Scrivi di nuovo su {site}",
        "letter": (
            "Qualcuno vuole scrivere su {site} con il nome legato a questo indirizzo.\n\n"
            "Se sei tu, apri questo link entro 15 minuti e premi il pulsante:\n\n"
            "{link}\n\n"
            "Se non sei tu, non fare nulla.\n"
        ),
        "title": "Scrivi di nuovo su {site}",
        "question": "Vuoi scrivere su {site} come {name}?",
        "yes": "Sì, continua",
    },
    "ja": {
        "subject": "{site} にもう一度書く",
        "letter": (
            "このアドレスの名前で {site} に書き込みたいという要求がありました。\n\n"
            "ご本人の場合は、15 分以内に次のリンクを開いてボタンを押してください。\n\n"
            "{link}\n\n"
            "心当たりがない場合は、何もする必要はありません。\n"
        ),
        "title": "{site} にもう一度書く",
        "question": "{site} に {name} として書き込みますか？",
        "yes": "はい、続ける",
    },
    "nl": {
        "subject": "Weer schrijven op {site}",
        "letter": (
            "Iemand wil op {site} schrijven onder de naam die bij dit adres hoort.\n\n"
            "Ben jij dat, open dan binnen 15 minuten deze link en druk op de knop:\n\n"
            "{link}\n\n"
            "Ben jij het niet, doe dan niets.\n"
        ),
        "title": "Weer schrijven op {site}",
        "question": "Wil je op {site} schrijven als {name}?",
        "yes": "Ja, verder",
    },
    "pl": {
        "subject": "Pisz ponownie na {site}",
        "letter": (
            "Ktoś chce pisać na {site} pod nazwą przypisaną do tego adresu.\n\n"
            "Jeśli to ty, otwórz ten odnośnik w ciągu 15 minut i naciśnij przycisk:\n\n"
            "{link}\n\n"
            "Jeśli to nie ty, nie rób nic.\n"
        ),
        "title": "Pisz ponownie na {site}",
        "question": "Czy chcesz pisać na {site} jako {name}?",
        "yes": "Tak, dalej",
    },
    "pt-br": {
        "subject": "Escrever de novo em {site}",
        "letter": (
            "Alguém quer escrever em {site} com o nome ligado a este endereço.\n\n"
            "Se for você, abra este link em até 15 minutos e pressione o botão:\n\n"
            "{link}\n\n"
            "Se não for você, não faça nada.\n"
        ),
        "title": "Escrever de novo em {site}",
        "question": "Você quer escrever em {site} como {name}?",
        "yes": "Sim, continuar",
    },
    "ru": {
        "subject": "Снова писать на {site}",
        "letter": (
            "Кто-то хочет писать на {site} под именем, которое связано с этим адресом.\n\n"
            "Если это вы, откройте эту ссылку в течение 15 минут и нажмите на кнопку:\n\n"
            "{link}\n\n"
            "Если это не вы, ничего не делайте.\n"
        ),
        "title": "Снова писать на {site}",
        "question": "Хотите писать на {site} под именем {name}?",
        "yes": "Да, дальше",
    },
    "uk": {
        "subject": "Знову писати на {site}",
        "letter": (
            "Хтось хоче писати на {site} під ім’ям, яке пов’язане з цією адресою.\n\n"
            "Якщо це ви, відкрийте це посилання протягом 15 хвилин і натисніть на кнопку:\n\n"
            "{link}\n\n"
            "Якщо це не ви, нічого не робіть.\n"
        ),
        "title": "Знову писати на {site}",
        "question": "Бажаєте писати на {site} під ім’ям {name}?",
        "yes": "Так, далі",
    },
    "zh-cn": {
        "subject": "再次在 {site} 发表评论",
        "letter": (
            "有人想用属于这个地址的名字在 {site} 发表评论。\n\n"
            "如果是您本人，请在 15 分钟内打开以下链接并按下按钮：\n\n"
            "{link}\n\n"
            "如果不是您，请不必理会。\n"
        ),
        "title": "再次在 {site} 发表评论",
        "question": "您要以 {name} 的名字在 {site} 发表评论吗？",
        "yes": "是的，继续",
    },
}
