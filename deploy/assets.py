"""The S3 bucket of assets; the stack has it only with `MakeAssetBucket`."""

from typing import Any

from deploy.intrinsics import attribute, filled, reference, when

BUCKET = "AssetBucket"
CONDITION = "MakesAssetBucket"
# Functions that read, write or delete assets, or the files of imports and exports.
USERS = frozenset(
    {"api_handler", "move_assets", "assets_schedules", "move_nodes", "comments_schedules"}
)
_OBJECTS = [
    *("s3:GetObject", "s3:PutObject", "s3:DeleteObject"),
    *("s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"),
]
# Without ListBucket, S3 answers 403 for a missing object, not 404.
_WHOLE = ["s3:ListBucket", "s3:ListBucketMultipartUploads"]

_BLOCKED = (
    *("BlockPublicAcls", "BlockPublicPolicy"),
    *("IgnorePublicAcls", "RestrictPublicBuckets"),
)


def bucket_resources() -> dict[str, Any]:
    """Return the bucket, which outlasts the stack, and its policy, which demands TLS."""
    plain = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [attribute(BUCKET), filled(f"${{{BUCKET}.Arn}}/*")],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return {
        BUCKET: {
            "Type": "AWS::S3::Bucket",
            "Condition": CONDITION,
            "DeletionPolicy": "RetainExceptOnCreate",
            "UpdateReplacePolicy": "Retain",
            "Properties": _properties(),
        },
        f"{BUCKET}Policy": {
            "Type": "AWS::S3::BucketPolicy",
            "Condition": CONDITION,
            "Properties": {
                "Bucket": reference(BUCKET),
                "PolicyDocument": {"Version": "2012-10-17", "Statement": [plain]},
            },
        },
    }


def _properties() -> dict[str, Any]:
    own_key = {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": reference("KmsKeyArn")}
    encryption = {
        "ServerSideEncryptionByDefault": when(
            "HasKey", own_key, otherwise={"SSEAlgorithm": "AES256"}
        ),
        "BucketKeyEnabled": True,
    }
    return {
        "PublicAccessBlockConfiguration": dict.fromkeys(_BLOCKED, True),
        "BucketEncryption": {"ServerSideEncryptionConfiguration": [encryption]},
        # Plaza aborts uploads after a day; S3 aborts the uploads that Plaza missed.
        "LifecycleConfiguration": {
            "Rules": [
                {
                    "Status": "Enabled",
                    "Prefix": "",
                    "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 7},
                }
            ]
        },
        "CorsConfiguration": {"CorsRules": [_cors()]},
    }


def _cors() -> dict[str, Any]:
    """Return the CORS rule: pages may upload parts, and read files by presigned addresses."""
    return {
        "AllowedMethods": ["GET", "HEAD", "PUT"],
        "AllowedOrigins": ["*"],
        "AllowedHeaders": ["*"],
        "ExposedHeaders": ["ETag", "Content-Range"],
        "MaxAge": 7_200,
    }


def bucket_statements() -> list[Any]:
    """Return a role's statements for the bucket; CloudFormation drops them without a bucket."""
    objects = {"Effect": "Allow", "Action": _OBJECTS, "Resource": filled(f"${{{BUCKET}.Arn}}/*")}
    whole = {"Effect": "Allow", "Action": _WHOLE, "Resource": attribute(BUCKET)}
    return [when(CONDITION, objects), when(CONDITION, whole)]
