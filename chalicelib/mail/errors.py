"""Problems of letters."""

from chalicelib.errors import Problem


class MailOff(Problem):
    """The deployment has no sender and no folder of letters, or no public URL for their links."""

    status = 409
    code = "mail_off"
    title = "This deployment sends no mail"


class MailUnwanted(Problem):
    """A letter to the address came back, or its reader called a letter spam."""

    status = 409
    code = "mail_unwanted"
    title = "This address takes no mail from here"
