import Base
import Cryptography

/// Keys of authorities, document signers and readers whose private keys are published, and keys of published samples.
/// Only test documents chain to them. A signature below such a key proves nothing.
///
/// Anyone can make another certificate for such a key, with another fingerprint. Each origin is a repository with a
/// path, or a standard's clause.
public enum PublishedKeys {
  /// The origin of the certificate's key, if it is published as a key for tests.
  public static func origin(of certificate: Certificate) -> String? {
    guard let info = certificate.publicKey?.subjectPublicKeyInfo else { return nil }
    return origins[Hex.encode(HashAlgorithm.sha256.hash(info))]
  }

  /// The origins by the SHA-256 of SubjectPublicKeyInfo with an uncompressed point, as `openssl pkey -pubin -outform
  /// DER` writes it.
  static let origins: [String: String] = [
    // Standards and samples
    "06f252de4ec453970ca1678b5b4c3a7d933eb255479b42ff1ba040d5880e925a": "ISO/IEC 18013-5, D.5.2 (utopia iaca)",
    "8cd1639d5a77986ef8a80d29267f777f95670300b29dbfd7afda67417744bb0f":
      "ISO/IEC TS 18013-7, B.6 (ISO18013-5 Test Certificate IACA)",
    "770716a04a208aea6acd84c4a0ef9b260267dbdc249707914f980d1b073befcf":
      "Apple's sample archive (PassKit Identity Test Issuer Root CA)",
    "25cf573fc6a31bab1437abea6d065f8341a48c879d24339ede44a2567228ec6b": "Apple's sample archive (issuer_signing.crt)",
    // The OpenID Foundation's conformance suite: its authority, which was formerly its document signer.
    "d02d7a12612b9d14da609c495a27a659564746ccc39ec0ef4faba1afde55b1de":
      "openid-certification/conformance-suite, src/main/kotlin/net/openid/conformance/util/TestKeysAndCerts.kt",
    // Multipaz, formerly Identity Credential; the first is authority and reader root.
    "710188d28a24476e8eeccd98e956dd2dbd9b01da02b80a3fb1f3d0e17cfef555":
      "openwallet-foundation/multipaz-samples, …/composeResources/files/reader_root_key_private.pem",
    "100f8cc1cdfdade0b4a796afbbd61f016d7d770d34800ed03ff65d5e5bb05d73":
      "openwallet-foundation-labs/identity-credential, wallet/src/main/res/raw/iaca_private_key.pem",
    "08a36c705243c18df5bdfccebccebb57296962e72ecc72870a1a4ecf0dd47b0d":
      "openwallet-foundation-labs/identity-credential, wallet/src/main/res/raw/ds_private_key.pem",
    "c4ecc56033aafecf27f70fd2ca284136ef09afed52ddded9818b8482ea057a6e":
      "openwallet-foundation-labs/identity-credential, server/src/main/resources/resources/ds_private_key.pem",
    "4eb116342b526ff27f5da0f5a0c304488f445785f94b2525f0fef7b8a40e3484":
      "openwallet-foundation-labs/identity-credential, multipaz-backend-server/…/resources/ds_private_key.pem",
    "9d25da51a6ba5753b9ea15c1346b0e9f47dd577253dd7d793b49786cb5ee2996":
      "openwallet-foundation-labs/identity-credential, appholder/…/raw/google_mdl_ds_cert_iaca_2_privkey.pem",
    "2632ed92581382556a6c26ae9529cedec376d218d8a701c7571422800ac2be43":
      "openwallet-foundation-labs/identity-credential, appholder/src/main/res/raw/google_mdl_ds_privkey.pem",
    "10611da0f2ee41b3091176fdc814e68497059cb7a188e9d427e2e948fab5866a":
      "openwallet-foundation-labs/identity-credential, appholder/src/main/res/raw/google_mekb_ds_privkey.pem",
    "6b0d2e0415a0aab4e981f8452b84db16093642bd532bd029135874f7a61de11e":
      "openwallet-foundation-labs/identity-credential, appholder/src/main/res/raw/google_micov_ds_privkey.pem",
    "343d4671f1fdfac4e87a48292e510f05a88987a7d0cf35a47a6a69da4b08cb6a":
      "openwallet-foundation-labs/identity-credential, appverifier/src/main/res/raw/google_mdl_ra_privkey.pem",
    "896d2604cecae867c6590cdc4212e4fe37e3f267a620300dea9d256e1cdabe34":
      "openwallet-foundation/multipaz-samples, MultipazCodelab/Holder/…/files/iaca_private_key.pem",
    "020ec13cfa17cf65ea33c77667e1773551374a9bbe51815d8369cba60372b9ba":
      "openwallet-foundation/multipaz-samples, MultipazGettingStartedSample/…/files/iaca_private_key.pem",
    "88d7199c0b51f1637e04dc31fbbcfd495b40ac0cb576c269d0bdb02ba2bad816":
      "openwallet-foundation/multipaz-wallet, androidApp/…/ui/settings/DeveloperPhotoIdIssuer.kt",
    // EUDI: the wallet's sample documents, and the test signer of the issuer.
    "d9046cdec94fa87b3cd2b04f9f19c20935a98cd86931f1dc365ca24b2d9384e8":
      "eu-digital-identity-wallet/eudi-lib-android-wallet-document-manager, …/internal/SampleDataUtil.kt",
    "608ad2b438732304a6c077bcc024ff3a65dacee25b364582d0d479409070311b":
      "eu-digital-identity-wallet/eudi-srv-web-issuing-eudiw-py, pid-issuer/privkey/PID-DS-0001_UT.pem",
    // Libraries
    "444dfb6a3e2d251c4c39de5da3791745885d22d11e6482c293d5775e14a68b3e":
      "auth0-lab/mdl, __tests__/issuing/config.ts; openwallet-foundation-labs/mdoc-ts, tests/config.ts",
    "59ca3bc24410e053a16f18d91f96dc8f79410c865ad68e9af9b97e87341721ee":
      "IdentityPython/pyMDOC-CBOR, pymdoccbor/tests/pkey.py",
    "2b631441b19acb80e4296a145f97fcd2e66576eba230dd72fa12c5be331abf41":
      "IdentityPython/pyMDOC-CBOR, pymdoccbor/tests/certs/fake-private-key.pem",
    "64efa6a2cf857cb7af0378e8e1533566b8b7a8f00680c8de8245b7c6837b82df":
      "spruceid/isomdl, test/presentation/isomdl_iaca_root_cert.pem (ISOmDL Test Root)",
    "e1bbce962a4879b7a608c5057d93385e5b6f049e83efc477fe0a10d2b3e5c5aa": "spruceid/isomdl, test/issuance/256-key.pem",
    "0658e1befb7ed3e151a5a91b95e7afdf45f5e0757326b4236972f470255ca8ed": "spruceid/isomdl, test/issuance/384-key.pem",
    "3221e736bb706a26d34c5788a136fa22dc7f3285d247b4ac2a1ecea08be637b8": "spruceid/isomdl, test/issuance/521-key.pem",
    "29cb406b53a4105f296112c963ca23de6a4305315adea0f450cdce4792af7b6b": "spruceid/isomdl, tests/data/sec1.pem",
    "cdc9a6462a636757f2db15e53cd8c1f9eac55aaaca0caecf8508cbb261d39962":
      "spruceid/isomdl, test/presentation/reader_key.pem",
    "dbd4ed94a1de90130fa02c2121af247a1b93ef2d0febab64726195d3f9b14075":
      "walt-id/waltid-identity, waltid-issuer-api/…/openapi/issuerapi/MdocDocs.kt (Waltid Test Document Signer)",
    "45e610497c5d37f19b03a04603c690d55cf745173be91aebc0267878949f0e4c":
      "walt-id/waltid-identity, waltid-issuer-api/…/onboarding/openapi/DocumentSignerDocs.kt (Example IACA)",
    "1e77fd917df23b042568c50412b4df9268331acd08c3f565b536c951ff1a898e":
      "walt-id/waltid-identity, waltid-issuer-api/src/test/resources/ec-potential.key",
    "c1726b77e836246743273c1a46f12afd0d949c70aa46bd2f860205f0dd1f9cac":
      "walt-id/waltid-identity, LspPotentialInterop.kt (MDOC ROOT CA)",
    "91354269559611add74d606a37f4f46e996a064f28c9d165e79a54e73337256e":
      "walt-id/waltid-identity, LspPotentialInterop.kt (MDOC Test Issuer)",
  ]
}

extension Certificate {
  /// The reason why live mode never trusts the certificate; nil unless the certificate is for tests.
  public var testOrigin: String? {
    if isMock { return "made by the mock authority" }
    return PublishedKeys.origin(of: self).map { "its key is a published test key: \($0)" }
  }

  package var isForTests: Bool { testOrigin != nil }
}
