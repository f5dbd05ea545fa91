/// Keys only for these tests.
enum PEMFixtures {
  static let encryptedPKCS8 = """
    -----BEGIN ENCRYPTED PRIVATE KEY-----
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAjE6qRiQr7s5AICCAAw
    DAYIKoZIhvcNAgkFADAdBglghkgBZQMEAQIEEDo5Zkm1fekIx/sLVbS5TcMEgZDM
    qGvUf6x9++dd+/ZqZOiM5zRnFowgFoW1DKpWRq+pqfHbBqc6PqD5NpyjWqdZ2K8q
    q2K89ljKPKIvgq8glEw6sOi6SdDUz7m9ZDXOa1yqnMlH+erk6KIkFo3qXsQ4auP+
    Rpm2bGdUcwBykeGsmRQSQm4pHcAZcOQp9OsZLTehR1VRR4ubKjRPWCoq4Ajj0UQ=
    -----END ENCRYPTED PRIVATE KEY-----
    """

  static let encryptedSEC1 = """
    -----BEGIN EC PRIVATE KEY-----
    Proc-Type: 4,ENCRYPTED
    DEK-Info: AES-128-CBC,DF4ABBBD65468F449D3D495782EA08F0

    cxYXgPyz52unYYvTeqQEQpHhskBvxttofcGuM0U13FKMhcpj2wVw+uRnvosHz9Aj
    Tvr1RBUDEhxMQEIobbH4O5XTkTzEmNG3UuF8XNr5OeBlxhxETQaEYLAAaVOq9qmZ
    Sn07zyFKcb9S/xf84f4AjkgURbr/YiMpZG8sfPJtObQ=
    -----END EC PRIVATE KEY-----
    """

  static let secp256k1 = """
    -----BEGIN EC PRIVATE KEY-----
    MHQCAQEEIMHSOuEVe6oe0cISrSJ2THaxFrGBt+cBSFWq4Nd5604voAcGBSuBBAAK
    oUQDQgAEj567tt5D9vSdRitmz9f73r3yhT6/nk2zbgt80fOpLgy//egBbW5r91H4
    GqDnR+1mYp8+Jg8P147bkcC6ZKBQgg==
    -----END EC PRIVATE KEY-----
    """

  /// P-256, spelled out as parameters instead of named.
  static let explicitParameters = """
    -----BEGIN EC PRIVATE KEY-----
    MIIBaAIBAQQgWDQlBKrYpHITvLyB88hYU+IvLpMX8xFjHCmEoOSk4saggfowgfcC
    AQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////
    MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57Pr
    vVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEE
    axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54W
    K84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8
    YyVRAgEBoUQDQgAEKpo2Wl18P/4YSEj6WXdUKgZCJxoOxdOVQvJIhsVOMBC6NF6L
    fdngeMaFesA0nL3yiCE0NT97g9X0VeIG3FNjzQ==
    -----END EC PRIVATE KEY-----
    """
}
