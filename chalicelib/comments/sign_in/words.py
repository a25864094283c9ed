"""Words of letters that confirm a guest's address, and of their links' pages, by language."""

from typing import TypedDict


class Words(TypedDict):
    """The words of a letter and of its link's page; `yes` is the label of the page's button.

    Placeholders: `{link}` in the letter, `{name}` in the question; `{site}` may be in all texts but
    `yes`.
    """

    subject: str
    letter: str
    title: str
    question: str
    yes: str


WORDS: dict[str, Words] = {
    "ar": {
        "subject": "أكّد عنوانك لدى {site}",
        "letter": (
            "كتب أحدهم تعليقًا في {site} وذكر هذا العنوان.\n\n"
            "إن كنت أنت، فافتح هذا الرابط خلال يوم واضغط الزر، وستظهر تعليقاتك عندئذ:\n\n"
            "{link}\n\n"
            "وإن لم تكن أنت، فلا تفعل شيئًا.\n"
        ),
        "title": "أكّد عنوانك",
        "question": "كتب {name} في {site} وذكر عنوانك. هل هذا أنت؟",
        "yes": "نعم، أظهر تعليقاتي",
    },
    "de": {
        "subject": "Bestätige deine Adresse für {site}",
        "letter": (
            "Jemand hat auf {site} einen Kommentar geschrieben und diese Adresse "
            "angegeben.\n\n"
            "Wenn du das warst, öffne innerhalb eines Tages diesen Link und drücke auf den "
            "Knopf. Dann erscheinen deine Kommentare:\n\n"
            "{link}\n\n"
            "Wenn du es nicht warst, tu nichts.\n"
        ),
        "title": "Bestätige deine Adresse",
        "question": "{name} hat auf {site} geschrieben und deine Adresse angegeben. Warst du das?",
        "yes": "Ja, meine Kommentare zeigen",
    },
    "en": {
        "subject": "Confirm your address for {site}",
        "letter": (
            "A reader has written a comment at {site} and named this address.\n\n"
            "If that was you, open this link within a day and press the button. Your "
            "comments are shown then:\n\n"
            "{link}\n\n"
            "If it was not you, do nothing.\n"
        ),
        "title": "Confirm your address",
        "question": "{name} has written at {site} and named your address. Was that you?",
        "yes": "Yes, show my comments",
    },
    "es": {
        "subject": "Confirma tu dirección para {site}",
        "letter": (
            "Alguien ha escrito un comentario en {site} y ha indicado esta dirección.\n\n"
            "Si has sido tú, abre este enlace en el plazo de un día y pulsa el botón. "
            "Entonces se mostrarán tus comentarios:\n\n"
            "{link}\n\n"
            "Si no has sido tú, no hagas nada.\n"
        ),
        "title": "Confirma tu dirección",
        "question": "{name} ha escrito en {site} y ha indicado tu dirección. ¿Has sido tú?",
        "yes": "Sí, mostrar mis comentarios",
    },
    "fr": {
        "subject": "Confirmez votre adresse pour {site}",
        "letter": (
            "Quelqu’un a écrit un commentaire sur {site} et a indiqué cette adresse.\n\n"
            "Si c’était vous, ouvrez ce lien dans la journée et appuyez sur le bouton. Vos "
            "commentaires seront alors affichés :\n\n"
            "{link}\n\n"
            "Si ce n’était pas vous, ne faites rien.\n"
        ),
        "title": "Confirmez votre adresse",
        "question": "{name} a écrit sur {site} et a indiqué votre adresse. Était-ce vous ?",
        "yes": "Oui, afficher mes commentaires",
    },
    "it": {
        "subject": "Conferma il tuo indirizzo per {site}",
        "letter": (
            "Qualcuno ha scritto un commento su {site} e ha indicato questo indirizzo.\n\n"
            "Se sei stato tu, apri questo link entro un giorno e premi il pulsante. I tuoi "
            "commenti saranno allora visibili:\n\n"
            "{link}\n\n"
            "Se non sei stato tu, non fare nulla.\n"
        ),
        "title": "Conferma il tuo indirizzo",
        "question": "{name} ha scritto su {site} e ha indicato il tuo indirizzo. Sei stato tu?",
        "yes": "Sì, mostra i miei commenti",
    },
    "ja": {
        "subject": "{site} のためのアドレスの確認",
        "letter": (
            "{site} でコメントが書かれ、このアドレスが入力されました。\n\n"
            "ご本人の場合は、1 日以内に次のリンクを開いてボタンを押してください。コメントが表示されます。\n\n"
            "{link}\n\n"
            "心当たりがない場合は、何もする必要はありません。\n"
        ),
        "title": "アドレスの確認",
        "question": "{name} さんが {site} でコメントを書き、あなたのアドレスを入力しました。あなたですか？",
        "yes": "はい、コメントを表示します",
    },
    "nl": {
        "subject": "Bevestig je adres voor {site}",
        "letter": (
            "Iemand heeft op {site} een reactie geschreven en dit adres opgegeven.\n\n"
            "Was jij dat, open dan binnen een dag deze link en druk op de knop. Dan worden "
            "je reacties getoond:\n\n"
            "{link}\n\n"
            "Was jij het niet, doe dan niets.\n"
        ),
        "title": "Bevestig je adres",
        "question": "{name} heeft op {site} geschreven en jouw adres opgegeven. Was jij dat?",
        "yes": "Ja, toon mijn reacties",
    },
    "pl": {
        "subject": "Potwierdź swój adres dla {site}",
        "letter": (
            "Ktoś napisał komentarz na {site} i podał ten adres.\n\n"
            "Jeśli to ty, otwórz ten odnośnik w ciągu doby i naciśnij przycisk. Wtedy "
            "pojawią się twoje komentarze:\n\n"
            "{link}\n\n"
            "Jeśli to nie ty, nie rób nic.\n"
        ),
        "title": "Potwierdź swój adres",
        "question": "{name} pisze na {site} i podaje twój adres. Czy to ty?",
        "yes": "Tak, pokaż moje komentarze",
    },
    "pt-br": {
        "subject": "Confirme seu endereço para {site}",
        "letter": (
            "Alguém escreveu um comentário em {site} e informou este endereço.\n\n"
            "Se foi você, abra este link dentro de um dia e pressione o botão. Seus "
            "comentários aparecem então:\n\n"
            "{link}\n\n"
            "Se não foi você, não faça nada.\n"
        ),
        "title": "Confirme seu endereço",
        "question": "{name} escreveu em {site} e informou seu endereço. Foi você?",
        "yes": "Sim, mostrar meus comentários",
    },
    "ru": {
        "subject": "Подтвердите свой адрес для {site}",
        "letter": (
            "Кто-то написал комментарий на {site} и указал этот адрес.\n\n"
            "Если это были вы, откройте эту ссылку в течение суток и нажмите на кнопку. "
            "Тогда ваши комментарии появятся:\n\n"
            "{link}\n\n"
            "Если это были не вы, ничего не делайте.\n"
        ),
        "title": "Подтвердите свой адрес",
        "question": "{name} пишет на {site} и указывает ваш адрес. Это вы?",
        "yes": "Да, показать мои комментарии",
    },
    "uk": {
        "subject": "Підтвердьте свою адресу для {site}",
        "letter": (
            "Хтось написав коментар на {site} і вказав цю адресу.\n\n"
            "Якщо це були ви, відкрийте це посилання протягом доби й натисніть на кнопку. "
            "Тоді ваші коментарі з’являться:\n\n"
            "{link}\n\n"
            "Якщо це були не ви, нічого не робіть.\n"
        ),
        "title": "Підтвердьте свою адресу",
        "question": "{name} пише на {site} і вказує вашу адресу. Це ви?",
        "yes": "Так, показати мої коментарі",
    },
    "zh-cn": {
        "subject": "请确认您在 {site} 使用的地址",
        "letter": (
            "有人在 {site} 写了评论，并填写了这个地址。\n\n"
            "如果是您本人，请在一天内打开以下链接并按下按钮，您的评论随后就会显示：\n\n"
            "{link}\n\n"
            "如果不是您，请不必理会。\n"
        ),
        "title": "确认您的地址",
        "question": "{name} 在 {site} 写了评论，并填写了您的地址。是您本人吗？",
        "yes": "是的，显示我的评论",
    },
}
