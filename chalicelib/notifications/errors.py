"""Problems of notifications and of their letters."""

from chalicelib.errors import Problem


class NoMailAddress(Problem):
    """Letters need an address: neither the call nor the account names one."""

    status = 409
    code = "no_mail_address"
    title = "Name an address for the letters"


class KindAlwaysOn(Problem):
    """A person cannot switch this kind of notifications off."""

    status = 422
    code = "notification_always_on"
    title = "These notifications cannot be off"


class TooManyWatches(Problem):
    """The caller watches 1,000 authors, or watches or mutes 1,000 discussions and threads."""

    status = 409
    code = "too_many_watches"
    title = "You have 1,000 watches already"


class UnknownMailLink(Problem):
    """The link's token is invalid or too old, or the reader's address has changed since."""

    status = 404
    code = "unknown_mail_link"
    title = "This link does not work any more"
