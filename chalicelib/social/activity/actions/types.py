"""The registry of action types, each with the model of its descriptor; applications add theirs.

An application registers its types before the first request, in a module that `app.py` imports:

    @register
    class InterviewHeld(Descriptor):
        type: Literal["interview_held"]
        applicant_id: RefId
        applicant_name: Name

A field `x_name` beside a field `x_id` has the name of the user or thing `x_id`, and follows its
renames. Declare a user's `x_id` as `UserId` and a thing's `x_id` as `RefId`: a thing may have the
id of a user (docs/decisions/0054). Callers without the role `application` may name only themselves
in a `UserId`. Plaza stores the user's own name as its `x_name`, whatever the caller sent
(docs/decisions/0090). `local/recruiting.py` has sample types, for the local server.
"""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Self, TypeVar, get_args

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from pydantic.fields import FieldInfo

from chalicelib.database import Document
from chalicelib.http import Input
from chalicelib.people.ids import UserId
from chalicelib.social.activity.refs import RefId, Tag, distinct

MAX_TAGS = 20
MAX_DESCRIPTOR_BYTES = 20_000
# Over all types together: an action stores the ids that it names, and a rename queries each field.
MAX_NAMED_FIELDS = 40
# The type of a ref that is a user of Plaza; every other type is the application's.
USER = "user"

TypeName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,63}$")]


class Descriptor(Input):
    """The details of an action, at most 20 KB; a type adds its own fields, `type` among them."""

    # Whether Plaza alone reports actions of this type.
    is_plazas: ClassVar[bool] = False

    tags: Annotated[list[Tag], Field(max_length=MAX_TAGS), AfterValidator(distinct)] = Field(
        default_factory=list,
        description="Each once; `GET /tags/{tag}/actions` lists the actions with a tag.",
    )

    @model_validator(mode="after")
    def _check_size(self) -> Self:
        if len(self.model_dump_json().encode()) > MAX_DESCRIPTOR_BYTES:
            raise ValueError(f"a descriptor must have at most {MAX_DESCRIPTOR_BYTES:,} bytes")
        return self


AnyDescriptor = TypeVar("AnyDescriptor", bound=Descriptor)

DESCRIPTORS: dict[str, type[Descriptor]] = {}


def register(descriptor: type[AnyDescriptor]) -> type[AnyDescriptor]:
    """Register a type of descriptors under the one value of its field `type`.

    Raises ValueError if the name has a type already, and TypeError if `type` is no Literal of one
    name, or if `_check_ids` refuses the ids.
    """
    names = get_args(descriptor.model_fields["type"].annotation)
    if len(names) != 1:
        raise TypeError(f"{descriptor.__name__}.type has to be a Literal of one name")
    if names[0] in DESCRIPTORS:
        raise ValueError(f"the type {names[0]} is registered already")
    _check_ids(descriptor)
    DESCRIPTORS[names[0]] = descriptor
    return descriptor


def all_types() -> dict[str, type[Descriptor]]:
    """Return all types by name, sorted, so that the order of imports does not matter."""
    return dict(sorted(DESCRIPTORS.items()))


def sendable_types() -> dict[str, type[Descriptor]]:
    """Return the types that callers may report, by name."""
    return {name: model for name, model in all_types().items() if not model.is_plazas}


def name_types(names: Iterable[str]) -> str:
    """Return the sentence of an error that lists the known types."""
    return f"the types are {', '.join(names)}" if names else "the application has no types"


def _check_ids(descriptor: type[Descriptor]) -> None:
    """Raise TypeError for a new type with ids that Plaza could not rename or erase.

    A named id is a UserId or a RefId, and a UserId has a name beside it. A field that is a
    UserId in one type is a UserId in every type that has it. All types together have at most
    `MAX_NAMED_FIELDS` named ids.
    """
    named = {id_ for id_, _ in pairs(descriptor)}
    for id_, field in descriptor.model_fields.items():
        if id_ in named and not (is_user(field) or _is(field, RefId)):
            raise TypeError(f"{descriptor.__name__}.{id_} has to be a UserId or a RefId")
        if id_ not in named and is_user(field):
            raise TypeError(f"{descriptor.__name__}.{id_} has to be an x_id with an x_name beside")
        if any(is_user(each) != is_user(field) for each in _same_fields(id_)):
            raise TypeError(f"{descriptor.__name__}.{id_} is a user's in one type, and in one not")
    if len(named_fields().keys() | named) > MAX_NAMED_FIELDS:
        raise TypeError(f"all types together have at most {MAX_NAMED_FIELDS} named ids")


def _same_fields(id_: str) -> list[FieldInfo]:
    """Return the field `id_` of each registered type that has it."""
    all_fields = (each.model_fields for each in DESCRIPTORS.values())
    return [fields[id_] for fields in all_fields if id_ in fields]


def pairs(descriptor: type[Descriptor]) -> list[tuple[str, str]]:
    """Return the pairs `(x_id, x_name)` among the fields of a type."""
    fields = descriptor.model_fields
    named = (name.removesuffix("_name") for name in fields if name.endswith("_name"))
    return [(f"{stem}_id", f"{stem}_name") for stem in named if f"{stem}_id" in fields]


def _is(field: FieldInfo, annotation: Any) -> bool:
    return field.rebuild_annotation() in (annotation, annotation | None)


def is_user(field: FieldInfo) -> bool:
    """Return whether a field is a `UserId`, optional or not."""
    return _is(field, UserId)


def named_fields() -> dict[str, str]:
    """Return the name fields of all types by their id fields, as `{page_id: page_name}`."""
    return dict(sorted(pair for each in DESCRIPTORS.values() for pair in pairs(each)))


def named_users() -> dict[str, str]:
    """Return the entries of `named_fields` for ids of users."""
    # A field is a user's in all types or in none.
    return {id_: name for id_, name in named_fields().items() if is_user(_same_fields(id_)[0])}


def named_things() -> dict[str, str]:
    """Return the entries of `named_fields` for ids of the application's things."""
    users = named_users()
    return {id_: name for id_, name in named_fields().items() if id_ not in users}


def fields_naming(id_: str, descriptor: Mapping[str, Any]) -> dict[str, str]:
    """Return name fields by the fields `*_id` that have the value `id_`, whatever the type."""
    pairs_of_id = {key: f"{key[:-3]}_name" for key in descriptor if key.endswith("_id")}
    return {key: name for key, name in pairs_of_id.items() if descriptor[key] == id_}


def persons(descriptor: Mapping[str, Any]) -> dict[str, str]:
    """Return a descriptor's name fields by its filled id fields of users."""
    return _filled_fields(descriptor, of_users=True)


def things(descriptor: Mapping[str, Any]) -> dict[str, str]:
    """Return a descriptor's name fields by its filled id fields of the application's things."""
    return _filled_fields(descriptor, of_users=False)


def _filled_fields(descriptor: Mapping[str, Any], *, of_users: bool) -> dict[str, str]:
    model = DESCRIPTORS[descriptor["type"]]
    return {
        id_: name
        for id_, name in pairs(model)
        if descriptor.get(id_) and is_user(model.model_fields[id_]) is of_users
    }


def by_person(name: str, user_id: str) -> list[Document]:
    """Return filters of a user's actions of a type, as alternatives for `$or`.

    In a type with UserId fields, each such field names a doer, as `hired_by_id` does. Without such
    a field, the doer is the action's actor.
    """
    model = DESCRIPTORS[name]
    fields = [id_ for id_, _ in pairs(model) if is_user(model.model_fields[id_])]
    return [{f"descriptor.{id_}": user_id} for id_ in fields] or [{"actor.id": user_id}]


def mentions(actor_id: str, ref_ids: Iterable[str], descriptor: dict[str, Any]) -> list[str]:
    """Return the ids that an action names, each once: its actor, its refs, its descriptor's."""
    fields = (id_ for id_, _ in pairs(DESCRIPTORS[descriptor["type"]]))
    named = (descriptor[field] for field in fields if descriptor.get(field))
    return sorted({actor_id, *ref_ids, *named})
