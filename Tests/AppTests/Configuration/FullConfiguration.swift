import Base
import Mock
import TestSupport

@testable import App

extension LiveFolder {
  /// Every member, each in the form with the most members.
  static let everyMember: JSON = [
    "$schema": "mdoc.schema.json", "mode": "staging", "listen": "127.0.0.1:0", "behind_proxy": true,
    "tls": ["certificate": "tls-chain.pem", "key": "tls.pem"],
    "limits": [
      "per_key": ["rate": 1_000, "burst": 2_000], "per_session": ["rate": 5, "burst": 20],
      "per_address": ["rate": 50, "burst": 200], "connections": 1_024, "connections_per_address": 128,
      "concurrent_requests": 32,
    ],
    "trusted_proxies": ["10.0.0.0/8"], "proxy_header": "Forwarded",
    "public_url": "https://id.shop.example", "reader_crl": "reader.crl",
    "documentation": ".", "console": true,
    "store": "sqlite:mdoc.sqlite", "node": "verifier-1",
    "trust": [
      "trust/",
      [
        "name": "first", "vical": "https://lists.example/vical", "signer_anchors": ["trust/iaca.pem"],
        "ekus": ["1.0.18013.5.1.2"], "max_path_length": 0, "crl_addresses": "named", "jwt_status_lists": false,
        "crl_exceptions": ["abababababababababababababababababababababababababababababababab": "https"],
      ],
      [
        "name": "second", "trusted_entities": "https://lists.example/entities", "signer_anchors": ["trust/iaca.pem"],
        "services": ["https://service.example": ["org.iso.18013.5.1.mDL"]], "status_services": [],
        "ekus": ["1.0.18013.5.1.2"], "max_path_length": 0, "crl_addresses": "named", "jwt_status_lists": false,
        "crl_exceptions": ["abababababababababababababababababababababababababababababababab": "https"],
      ],
    ],
    "trust_state": "trust-state", "trust_refresh": 3_600, "clock_skew": 60, "circuits": "circuits",
    "zk_end_of_day": true, "stop_notice": 0, "stop_drain": 20, "pkcs11_module": "/usr/lib/pkcs11/absent.so",
    "sealing_keys": [["id": "a", "file": ["file": "sealing.key"]], ["id": "b", "file": ["env": "MDOC_TEST_SCHEMA"]]],
    "registrars": ["registrars.pem"],
    "relying_parties": [
      [
        "id": "shop",
        "origins": [
          "https://shop.example", "android:apk-key-hash:E8lSX1zJMPBZ9G_zpnfxfmfh-d0q2qEYz-2bgNeUKCU",
        ],
        "api_keys": [
          [
            "sha256": .string(String(repeating: "a", count: 64)), "scopes": ["admin"], "id": "2026-11",
            "expires_at": 4_000_000_000,
          ]
        ],
        "apple": [
          [
            "merchant_id": "merchant.example.shop", "team_id": "ABCDE12345",
            "encryption_keys": [
              "merchant.pem",
              [
                "file": "merchant-certified.pem", "passphrase": ["file": "sealing.key"],
                "certificate": "merchant-certificate.pem",
              ],
              [
                "credential": "merchant-certified.pem", "passphrase": ["credential": "sealing.key"],
                "certificate": "merchant-certificate.pem",
              ],
              [
                "env": "MDOC_TEST_SCHEMA_KEY", "passphrase": ["env": "MDOC_TEST_SCHEMA"],
                "certificate": "merchant-certificate.pem",
              ],
            ],
          ]
        ],
        "readers": [
          [
            "key": "reader.pem", "certificates": "reader-chain.pem", "client_id": "x509_hash",
            "google_wallet_metadata": .string(GoogleWalletFixture.text),
          ]
        ],
        "openid4vp": [
          "encrypted_responses": true, "annex_b": false, "scheme": "openid4vp",
          "eu_age_verification": ["eu.europa.ec.av.1"], "device_mac": false, "wallet_feedback": true,
          "redirect_uri": "https://shop.example/done",
          "redirect_schemes": ["com.example.shop"], "wallet_origins": ["https://wallet.example", "*"],
        ],
        "accepted_issuers": ["org.iso.18013.5.1.mDL": ["0a"]],
        "registration_certificates": ["registration.jwt"],
        "page": [
          "name": "Example Shop", "color": "#0b57d0", "logo": "logo.svg", "logo_dark": "logo.svg",
          "show_reason": true, "privacy_url": "https://shop.example/privacy",
        ],
        "revocation": "require_good", "retain_results": true, "retain_days": 30, "longest_retain_days": 365,
        "evidence": ["key": "evidence.key"],
        "webhooks": [
          [
            "id": "main", "url": "https://shop.example/hooks", "secrets": [["file": "hook.secret"]],
            "events": ["verification_session.verified"],
            "allow": ["hosts": ["shop.example"], "ports": [8443], "networks": ["10.20.0.0/16"]],
          ]
        ], "metadata_in_events": true,
        "templates": ["over-18": ["documents": [["doc_type": "org.iso.18013.5.1.mDL", "age_over": [18]]]]],
        "quota": ["open_sessions": 100, "bytes": 1_000_000, "idempotency_bytes": 1_000_000],
      ]
    ],
  ]

  /// The merchant's certificate with its key, by `openssl req -new -x509`, as Apple's have it: UID and OU.
  func writeMerchantCertificate() throws {
    try write("merchant-certified.pem", Array(MerchantFixture.key.utf8))
    try write("merchant-certificate.pem", Array(MerchantFixture.certificate.utf8))
  }

  /// A registrar's authority, and its registrations.
  func writeRegistration() throws {
    let registrar = try RegistrationFixture()
    try write("registrars.pem", registrar.authority)
    try write("registration.jwt", registrar.jws(at: .systemNow()))
  }

  /// A certificate and its key.
  func writeTLS() throws {
    let tls = try TLSFixture()
    try write(
      "reader.crl",
      SelfMadeReader(
        name: "shop", host: "shop.example", revocationList: "https://shop.example/reader.crl", at: .systemNow()
      ).revocationList)
    try write("tls-chain.pem", tls.certificate)
    try write("tls.pem", tls.key)
  }
}

/// One member of a configuration, with the object of the schema that describes it.
struct PlacedMember {
  let pointer: String
  let schema: JSON
  let isRequired: Bool
}

/// Goes through a configuration and its schema side by side.
struct SchemaWalk {
  let document: JSON
  private(set) var members: [PlacedMember] = []
  /// Pointers of objects with the names that the schema knows there.
  private(set) var objects: [(pointer: String, names: [String])] = []
  /// Members of the schema for which the configuration has no example.
  private(set) var missing: [String] = []

  init(_ document: JSON, _ configuration: JSON) {
    self.document = document
    visit(configuration, document, at: "")
  }

  private func definition(_ schema: JSON) -> JSON? {
    schema["$ref"]?.string.flatMap { name in document["$defs"]?[String(name.dropFirst("#/$defs/".count))] }
  }

  private mutating func visit(_ value: JSON, _ schema: JSON, at pointer: String) {
    if let target = definition(schema) { return visit(value, target, at: pointer) }
    if let choices = schema["anyOf"]?.array {
      let definitions = Schema.Definitions(of: document)
      let chosen = choices.first { Schema($0).violations(of: value, with: definitions).isEmpty }
      guard let chosen else { return }
      return visit(value, chosen, at: pointer)
    }
    switch value {
    case .object(let present):
      guard let properties = schema["properties"]?.object else { return }
      objects.append((pointer, properties.map(\.name)))
      let required = schema["required"]?.array?.compactMap(\.string) ?? []
      for property in properties {
        let place = "\(pointer)/\(property.name)"
        guard let member = present.first(where: { $0.name == property.name }) else {
          missing.append(place)
          continue
        }
        members.append(
          PlacedMember(pointer: place, schema: property.value, isRequired: required.contains(property.name)))
        visit(member.value, property.value, at: place)
      }
    case .array(let elements):
      guard let items = schema["items"] else { return }
      for (index, element) in elements.enumerated() { visit(element, items, at: "\(pointer)/\(index)") }
    default: return
    }
  }
}

extension JSON {
  /// The document with the value at the pointer replaced or added; nil removes it.
  func with(_ value: JSON?, at pointer: String) -> JSON {
    var names = pointer.split(separator: "/").map(String.init)[...]
    guard let name = names.popFirst() else { return value ?? .null }
    let rest = names.map { "/" + $0 }.joined()
    switch self {
    case .array(var elements):
      guard let index = Int(name), elements.indices.contains(index) else { return self }
      elements[index] = elements[index].with(value, at: rest)
      return .array(elements)
    case .object(let members):
      guard !rest.isEmpty else {
        let others = members.filter { $0.name != name }
        return .object(others + (value.map { [.init(name, $0)] } ?? []))
      }
      return .object(members.map { $0.name == name ? .init(name, $0.value.with(value, at: rest)) : $0 })
    default: return self
    }
  }
}
