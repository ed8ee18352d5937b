# SPDX-License-Identifier: MPL-2.0
"""Seals values as common/crypto.h does, for rows that tests write themselves."""

import ctypes
import ctypes.util
import os


def seal(key, context, plain):
    """With the key (64 hexadecimal digits) as number 1."""
    crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
    for name in ("EVP_CIPHER_CTX_new", "EVP_aes_256_gcm"):
        getattr(crypto, name).restype = ctypes.c_void_p
    nonce, tag, out, size = os.urandom(12), ctypes.create_string_buffer(16), ctypes.create_string_buffer(len(plain) + 16), ctypes.c_int()
    cipher = ctypes.c_void_p(crypto.EVP_CIPHER_CTX_new())
    assert crypto.EVP_EncryptInit_ex(cipher, ctypes.c_void_p(crypto.EVP_aes_256_gcm()), None, bytes.fromhex(key), nonce) == 1
    assert crypto.EVP_EncryptUpdate(cipher, None, ctypes.byref(size), context.encode(), len(context)) == 1
    assert crypto.EVP_EncryptUpdate(cipher, out, ctypes.byref(size), plain, len(plain)) == 1
    assert crypto.EVP_EncryptFinal_ex(cipher, None, ctypes.byref(size)) == 1
    assert crypto.EVP_CIPHER_CTX_ctrl(cipher, 16, 16, tag) == 1
    crypto.EVP_CIPHER_CTX_free(cipher)
    return (1).to_bytes(4, "big") + nonce + out.raw[:len(plain)] + tag.raw
