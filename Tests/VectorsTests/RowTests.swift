import Testing

/// The rows of the list of negative cases about documents, and the vectors of the variants that each row names.
///
/// `RegistryTests` ensures that every row has a vector; this test ensures that no variant of a row is lost.
@Suite struct RowTests {
  private static let rows = """
    C01 cbor-nested-arrays cbor-nested-element
    C02 cbor-huge-array cbor-huge-map cbor-huge-bytes cbor-huge-text
    C03 cbor-trailing-after-response apple-trailing-bytes cbor-trailing-after-mso cbor-trailing-after-payload
    C03 cbor-trailing-after-item
    C04 cbor-duplicate-status cbor-duplicate-documents cbor-duplicate-mso-key cbor-duplicate-protected-header
    C04 cbor-duplicate-unprotected-header cbor-duplicate-item-key apple-duplicate-key
    C05 cbor-truncated-response cbor-truncated-item apple-truncated
    C06 cbor-invalid-utf8
    C07 cbor-reserved-info cbor-reserved-info-29 cbor-reserved-info-30 cbor-stray-break cbor-odd-map
    C08 body-10-megabytes body-10-megabytes-in-app body-million-items body-million-items-in-app cbor-too-large
    C08 cbor-too-many-items cbor-many-items cbor-large
    C09 item-digest-id-bignum item-digest-id-float item-digest-id-nan
    C09 response-status-bignum response-status-float response-status-nan
    C10 item-tag24-text mso-tag24-text item-not-tag24-map item-not-tag24-bytes
    C11 cbor-nested-tags cbor-nested-embedded cbor-nested-chunks cbor-deep-chunks
    C12 cbor-shared-reference cbor-shared-reference-use cbor-string-reference cbor-string-namespace
    P01 cbor-unsorted-keys cbor-long-form cbor-long-tag cbor-map-order
    P02 cbor-indefinite-lengths cbor-chunked-text
    A01 apple-algorithm
    A02 apple-mode
    A03 apple-other-key
    A04 apple-info-hash-flipped
    A05 apple-info-hash-absent
    A06 apple-key-64-bytes apple-key-compressed apple-key-prefix apple-key-off-curve apple-key-infinity
    A07 apple-data-flipped apple-data-short apple-data-empty
    A08 apple-other-nonce
    A09 apple-other-merchant apple-other-team apple-swapped
    A10 apple-attacker-hash
    A11 apple-plaintext-empty apple-plaintext-bytes apple-plaintext-bare
    A12 apple-other-transcript
    A13 device-mac-in-app
    A14 apple-simulator apple-simulator-key apple-profile
    A15 apple-simulator-key-signed
    A16 document-second-in-app response-status-10-in-app response-version-2.0-in-app
    D01 annex-c-origin-host annex-c-origin-scheme annex-c-origin-port annex-c-origin-case annex-c-origin-slash
    D01 annex-c-origin-prefix annex-c-relayed openid4vp-origin-host openid4vp-origin-scheme openid4vp-origin-port
    D01 openid4vp-origin-case openid4vp-origin-slash openid4vp-origin-prefix
    D03 annex-c-encryption-info-altered annex-c-encryption-info-re-encoded annex-c-encryption-info-standard-alphabet
    D04 annex-c-tag-other annex-c-tag-bytes annex-c-three-elements
    D05 annex-c-enc-64-bytes annex-c-enc-off-curve
    D06 annex-c-enc-x-wing annex-c-enc-p384
    D07 annex-c-other-key jwe-other-key
    D08 jwe-alg-rsa-oaep jwe-alg-dir jwe-alg-none jwe-enc-a128cbc
    D09 jwe-kid-unknown jwe-epk-off-curve jwe-epk-p384
    D10 openid4vp-zip jwe-zip-bomb jwe-zip-not-compressed jwe-zip-trailing jwe-zip-truncated jwe-zip-twice
    D10 jwe-zip-unknown jwe-zip-zlib
    D11 openid4vp-thumbprint-null openid4vp-thumbprint-text openid4vp-thumbprint-other-key
    D12 openid4vp-handover-draft-18 openid4vp-handover-draft-24 annex-b-handover-1.0
    D13 openid4vp-handover-redirect openid4vp-handover-digital-credentials
    D14 openid4vp-client-id-other openid4vp-client-id-without-prefix openid4vp-response-uri-other
    D15 vp-token-unknown-id vp-token-string vp-token-two-presentations vp-token-id-missing
    D15 openid4vp-all-documents-one-missing openid4vp-redirect-all-documents-one-missing
    D16 vp-token-two-documents
    D17 state-missing state-other
    D18 openid4vp-error-access-denied openid4vp-error-invalid-request openid4vp-error-org-example-other
    D20 jwe-part-padded vp-token-padded vp-token-standard-alphabet
    I01 issuer-signature-bit-flipped issuer-signature-zero issuer-signature-s-order issuer-signature-short
    I01 issuer-signature-long issuer-signature-der
    I02 issuer-auth-missing issuer-signature-empty
    I03 issuer-algorithm-absent issuer-algorithm-none issuer-algorithm-rsa issuer-algorithm-unknown
    I03 issuer-algorithm-unprotected
    I04 issuer-es384-p256 issuer-es256-p384
    I05 issuer-algorithm-twice
    I06 issuer-crit-unknown issuer-crit-text
    I07 issuer-certificate-missing issuer-certificate-empty x5chain-protected issuer-certificate-twice
    I08 mso-detached
    I09 mso-not-tag24
    I10 issuer-signature-re-encoded
    I11 mso-doc-type
    I12 mso-version-9.9
    I13 response-version-9.9 response-version-2 response-version-integer
    I14 mso-digests-md5 mso-digests-sha-1 mso-digests-lower-case
    I15 mso-expired
    I16 mso-not-yet-valid
    I17 mso-signed-in-future
    I18 mso-valid-before-signed
    I19 mso-until-equals-from mso-until-before-from
    I20 mso-signed-before-certificate mso-signed-after-certificate
    I21 dates-with-fraction mso-date-offset mso-date-lower-case mso-date-epoch mso-date-untagged mso-date-impossible
    I21 mso-date-leap-second
    I22 mso-without-validity-info mso-without-signed mso-without-valid-from mso-without-valid-until
    I23 skew-until-1 skew-until-limit skew-until-over skew-from-1 skew-from-limit skew-from-over
    E01 element-changed
    E02 digests-without-namespace
    E03 digest-missing
    E04 element-twice
    E05 element-contradictory
    E06 digest-id-twice
    E07 element-moved element-moved-to-new-namespace
    E08 random-short strict-random-short
    E09 item-without-digestid item-without-random item-without-elementidentifier item-without-elementvalue
    E09 item-identifier-bytes
    E10 digest-truncated digest-longer
    E11 element-changed
    E12 element-absent element-absent-with-error
    E13 elements-unrequested strict-elements-unrequested
    E14 element-in-other-namespace age-in-other-namespace
    E15 elements-none elements-empty
    E16 document-unrequested
    E17 documents-empty documents-absent
    E18 response-status-10 response-status-11 response-status-12
    E19 document-errors-returned document-errors-unrequested document-errors-other-requested
    E20 document-second-untrusted
    E21 document-twice
    E22 age-type-one age-type-text age-type-null
    E23 age-contradictory
    E24 age-undetermined-higher age-undetermined-lower
    E25 age-by-higher-threshold age-by-lower-threshold
    E27 age-over-2 age-over-121 age-over-1a age-device-signed
    E28 age-against-birth-date strict-age-against-birth-date
    E29 expiry-date-passed expired-accepted
    E30 issuing-country-other issuing-jurisdiction-other
    E31 portrait-text portrait-huge
    K01 device-signed-missing
    K02 device-signature-zero device-signature-bit-flipped device-signature-other-key
    K03 device-signature-other-transcript
    K04 device-signature-issuer-algorithm
    K05 device-key-missing device-key-off-curve device-key-private device-key-type device-okp-es256
    K06 device-mac
    K07 device-auth-ambiguous
    K08 device-auth-empty
    K09 device-mac-truncated device-mac-hmac-256-64 device-mac-other-key
    K10 device-payload-other
    K11 device-namespaces-swapped
    K12 device-element-unauthorized device-element-other-authorized
    K13 device-element-authorized-by-namespace
    K14 device-element-replaces-issuer device-element-replaces-issuer-authorized device-element-repeats-issuer
    K15 device-key-of-issuer
    K16 issuer-auth-stolen
    T01 trust-store-empty
    T02 anchor-unknown
    T03 anchor-look-alike
    T04 anchor-not-ca
    T05 anchor-expired anchor-not-yet-valid
    T06 signer-expired signer-not-yet-valid mso-signed-before-certificate mso-signed-after-certificate
    T07 signer-issuer-name
    T08 signer-aki
    T09 signer-signature
    T10 anchor-self-signature
    T11 signer-is-ca signer-issued-by-signer
    T12 intermediate intermediate-allowed
    T13 signer-eku-missing signer-eku-tls signer-eku-reader signer-eku-not-critical
    T14 signer-key-usage-missing signer-key-usage-cert-sign
    T15 signer-lifetime
    T16 signer-country signer-state
    T17 signer-critical-extension
    T18 anchor-name-constraints intermediate-name-constraints intermediate-policy-constraints
    T19 signer-key-rsa signer-key-p192 signer-key-explicit-parameters signer-signature-sha-1
    T20 signer-decoy-key
    T21 signer-self-signed
    T22 anchor-in-chain strict-anchor-in-chain
    T23 chain-100 signer-20-kilobytes signer-1-megabyte chain-loop
    T24 anchor-other-doc-type
    T25 mock-root-in-live-mode
    T26 signer-trailing-bytes signer-serial-negative signer-serial-21-octets
    """

  @Test func `every variant of every row has its vector`() throws {
    let vectors = try CommittedCorpus.suite().entries.map(\.vector)
    let cases = Dictionary(vectors.map { ($0.id, $0.cases) }, uniquingKeysWith: { first, _ in first })
    for line in Self.rows.split(separator: "\n") {
      let words = line.split(separator: " ").map(String.init)
      for id in words.dropFirst() { #expect(cases[id]?.contains(words[0]) == true, "\(words[0]): \(id)") }
    }
  }
}
