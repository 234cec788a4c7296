# SPDX-License-Identifier: Apache-2.0
"""The version handshake of the query channel: checked only when the request carries version_info."""
from messages import cluster

API_VERSION = "0.10"
FILE_VERSION = "1.5.0"
FILE_VERSIONS = ["1.4.0", "1.5.0"]
_VERSION_UNSUPPORTED = 7


def check(request):
    """The SendResponse that refuses the request, or None."""
    if not request.HasField("version_info"):
        return None
    info, reasons = request.version_info, []
    if info.api_version != API_VERSION:
        reasons.append(f"API version {info.api_version} not supported (server: {API_VERSION})")
    if info.file_format_version not in FILE_VERSIONS:
        reasons.append(f"File format version {info.file_format_version} not compatible "
                       f"(server: {FILE_VERSION}, supported: [{' '.join(FILE_VERSIONS)}])")
    if not reasons:
        return None
    if len(reasons) == 2:
        reasons[1] = reasons[1][0].lower() + reasons[1][1:]
    reason = " and ".join(reasons)
    return cluster.SendResponse(
        message_id=request.message_id, error=reason, status=_VERSION_UNSUPPORTED,
        version_compatibility=cluster.VersionCompatibility(
            server_api_version=API_VERSION, supported_api_versions=[API_VERSION], reason=reason,
            server_file_format_version=FILE_VERSION, supported_file_format_versions=FILE_VERSIONS))
