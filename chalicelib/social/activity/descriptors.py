"""What an action says happened: a model for each type, from a registry that applications extend.

An application registers its types before the first request, in a module that `app.py` imports:

    @register
    class InterviewHeld(Descriptor):
        type: Literal["interview_held"]
        applicant_id: RefId
        applicant_name: Name

A field `x_name` beside a field `x_id` is the name of what `x_id` names, and is changed when
that is renamed. `recruiting` is the sample.
"""

from collections.abc import Iterable
from typing import Annotated, Any, TypeVar, get_args

from pydantic import Field, StringConstraints

from chalicelib.http import Input
from chalicelib.texts import Line, at_most

MAX_TAGS = 20

# Also of users, whose ids are of this form: a ref may be a person.
RefId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_|:.-]{1,64}$")]
TypeName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]
Tag = Annotated[Line, at_most(64)]
Name = Line


class Descriptor(Input):
    """What happened; a type adds its own fields, `type` among them, and stays below 20 KB."""

    tags: Annotated[list[Tag], Field(max_length=MAX_TAGS)] = Field(default_factory=list)


AnyDescriptor = TypeVar("AnyDescriptor", bound=Descriptor)

DESCRIPTORS: dict[str, type[Descriptor]] = {}


def register(descriptor: type[AnyDescriptor]) -> type[AnyDescriptor]:
    """Register a type of descriptors under the one value of its field `type`.

    Raises ValueError for a type that is registered already, TypeError for one without a name.
    """
    names = get_args(descriptor.model_fields["type"].annotation)
    if len(names) != 1:
        raise TypeError(f"{descriptor.__name__}.type has to be a Literal of one name")
    if names[0] in DESCRIPTORS:
        raise ValueError(f"the type {names[0]} is registered already")
    DESCRIPTORS[names[0]] = descriptor
    return descriptor


def named_fields() -> dict[str, str]:
    """Return the name's field by the id's field, over all types: `{rater_id: rater_name}`."""
    fields = {name for each in DESCRIPTORS.values() for name in each.model_fields}
    pairs = ((f"{name.removesuffix('_name')}_id", name) for name in sorted(fields))
    return {id_: name for id_, name in pairs if name.endswith("_name") and id_ in fields}


def mentions(actor_id: str, ref_ids: Iterable[str], descriptor: dict[str, Any]) -> list[str]:
    """Return the ids that an action names, each once: its actor, its refs, its descriptor's."""
    named = (descriptor[field] for field in named_fields() if descriptor.get(field))
    return sorted({actor_id, *ref_ids, *named})
