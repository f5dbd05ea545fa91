/// A key of merchant `merchant.example.shop` of team `ABCDE12345`, with a certificate as Apple makes them: its subject has
/// UID and OU. It is valid from 2026 to 2125.
enum MerchantFixture {
  static let key = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXEBWwvLC/ZM6qKWd
    mT26znI4VSrLxHNzud9Gy0rf4KChRANCAAQGYawYVfBh9r5FJpYyMP3ZdzGiabVk
    jBwrhkuYdufZhE7FiV/2lV1Ulq9z2Ot5eRQrF304194yWbkndkXs2PIX
    -----END PRIVATE KEY-----

    """

  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBzjCCAXQCAQEwCgYIKoZIzj0EAwIwcjELMAkGA1UEBhMCVVMxDTALBgNVBAoM
    BFNob3AxEzARBgNVBAsMCkFCQ0RFMTIzNDUxGDAWBgNVBAMMD0lkZW50aXR5IEFj
    Y2VzczElMCMGCgmSJomT8ixkAQEMFW1lcmNoYW50LmV4YW1wbGUuc2hvcDAgFw0y
    NjAxMDEwMDAwMDBaGA8yMTI2MDEwMTAwMDAwMFowcjELMAkGA1UEBhMCVVMxDTAL
    BgNVBAoMBFNob3AxEzARBgNVBAsMCkFCQ0RFMTIzNDUxGDAWBgNVBAMMD0lkZW50
    aXR5IEFjY2VzczElMCMGCgmSJomT8ixkAQEMFW1lcmNoYW50LmV4YW1wbGUuc2hv
    cDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABAZhrBhV8GH2vkUmljIw/dl3MaJp
    tWSMHCuGS5h259mETsWJX/aVXVSWr3PY63l5FCsXfTjX3jJZuSd2RezY8hcwCgYI
    KoZIzj0EAwIDSAAwRQIgN6mzVNXUVH14DSZPl31Py1q6v01UOtdgaw2tylZIwXoC
    IQCBErptumW/pdkcZ81WoghDa/c9LaGwR2DO5bMazAOhWQ==
    -----END CERTIFICATE-----

    """
}
