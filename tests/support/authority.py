# SPDX-License-Identifier: Apache-2.0
"""Certificates for tests over TLS."""
import os
import subprocess

import grpc

from client import NO_LIMIT


class Authority:
    """A CA of its own and a certificate of it for localhost; the CA's file is `ca`."""

    def __init__(self, folder, name, names="DNS:localhost,IP:127.0.0.1"):
        self.folder, self.name, self.ca = folder, name, folder / f"{name}-ca.pem"
        self._openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                      "-keyout", f"{name}-ca.key", "-out", f"{name}-ca.pem")
        self._openssl("req", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}-server",
                      "-keyout", f"{name}.key", "-out", f"{name}.csr")
        (folder / "names").write_text(f"subjectAltName={names}\n")
        self._openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{name}-ca.pem", "-CAkey", f"{name}-ca.key",
                      "-CAcreateserial", "-days", "2", "-extfile", "names", "-out", f"{name}.pem")
        self.credentials = grpc.ssl_channel_credentials(self.ca.read_bytes())

    def _openssl(self, *words):
        subprocess.run(["openssl", *words], cwd=self.folder, check=True, capture_output=True)

    def install(self, certificate, key):
        """By rename, as orchestrators do."""
        for suffix, target in ((".key", key), (".pem", certificate)):
            fresh = self.folder / f"fresh{suffix}"
            fresh.write_bytes((self.folder / f"{self.name}{suffix}").read_bytes())
            os.replace(fresh, target)


def channel_to(address, authority):
    port = address.rsplit(":", 1)[1]
    return grpc.secure_channel(f"127.0.0.1:{port}", authority.credentials,
                               NO_LIMIT + [("grpc.use_local_subchannel_pool", 1)])
