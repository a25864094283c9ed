"""Errors of assets, each with its HTTP status and stable code."""

from chalicelib.errors import Problem


class UnknownAsset(Problem):
    """There is no such asset, or no such version of it."""

    status = 404
    code = "unknown_asset"
    title = "Asset not found"


class UnknownUpload(Problem):
    """There is no such upload, or its time is over."""

    status = 404
    code = "unknown_upload"
    title = "Upload not found: it ends after a day"


class UploadFinished(Problem):
    """A part came after the finish or the refusal of the upload; the stored parts do not change."""

    status = 409
    code = "upload_finished"
    title = "This upload is finished"


class PartsMissing(Problem):
    """The finish came before all parts; the detail names the missing parts."""

    status = 409
    code = "parts_missing"
    title = "Parts of this upload are missing"


class AssetInUse(Problem):
    """A post, a page or an ad shows the asset."""

    status = 409
    code = "asset_in_use"
    title = "This asset is in use"


class TooManyVersions(Problem):
    """The asset has as many versions as it can have."""

    status = 409
    code = "too_many_versions"
    title = "This asset has as many versions as it can have"


class OtherKind(Problem):
    """A new version has another kind than its asset, such as a document for a picture."""

    status = 409
    code = "other_kind"
    title = "An asset keeps its kind, such as image: make a new asset"


class TooManyAssets(Problem):
    """The person has as many assets as people can have."""

    status = 409
    code = "too_many_assets"
    title = "You have as many pictures as you can have: delete some first"


class StorageFull(Problem):
    """The owner's versions would have more bytes than the quota; `facts` have the numbers."""

    status = 409
    code = "storage_full"
    title = "The storage for assets is full: delete some first"


class TooManyUploads(Problem):
    """The owner has as many unfinished uploads as allowed."""

    status = 409
    code = "too_many_uploads"
    title = "Too many uploads are unfinished: finish some, or wait until they end"


class OtherStore(Problem):
    """A part came to this API; it belongs at the store's address in the upload's answer."""

    status = 409
    code = "other_store"
    title = "The parts of this upload go to another address"


class StoreUnavailable(Problem):
    """This deployment has no bucket."""

    status = 409
    code = "store_unavailable"
    title = "This deployment does not have this store"


class AssetTooLarge(Problem):
    """The asset is larger than its store's limit."""

    status = 413
    code = "asset_too_large"
    title = "The asset is too large"


class UnsatisfiableRange(Problem):
    """The range has no byte of the asset."""

    status = 416
    code = "unsatisfiable_range"
    title = "The asset has no bytes in this range"
    header = "Content-Range"

    def __init__(self, length: int) -> None:
        super().__init__(headers={"Content-Range": f"bytes */{length}"})


class RangeNeeded(Problem):
    """The asset is larger than one answer; its length is in the headers."""

    status = 400
    code = "range_needed"
    title = "This asset is larger than one answer: ask for it with Range"
    header = "Content-Range"

    def __init__(self, length: int) -> None:
        super().__init__(headers={"Content-Range": f"bytes */{length}", "Accept-Ranges": "bytes"})


class WrongContent(Problem):
    """The bytes differ from the announcement of the upload."""

    status = 422
    code = "wrong_content"
    title = "The bytes are not those that were announced"


class UnreadableImage(Problem):
    """The picture's header has no size, or a size over the limit."""

    status = 422
    code = "unreadable_image"
    title = "This picture cannot be read, or is too large"
