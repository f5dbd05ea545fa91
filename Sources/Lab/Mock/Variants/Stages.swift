import Base
import CBOR
import Cryptography
import Longfellow
import LongfellowProver

/// The stages of making a response, in order.
enum Stages {
  /// Every stage that tables can change.
  static let all: [any AnyEditStage] =
    [
      settings, session, setup, items, digests, disclosure, mso, issuerAuth, issuerAuthParts, deviceAuth,
      deviceSignature,
      deviceMAC, deviceSignatureParts, deviceSigned, document, zkDocument, response, responseBytes, plaintext, envelope,
      envelopeBytes,
    ] + web + lists

  static let settings = EditStage<ResponseSettings>("settings", ["style": .at(\.style), "proofTime": .at(\.proofTime)])

  // MARK: The document

  /// All items that the issuer signs, before they are digested.
  static let items = EditStage("items", itemParts, itemActions)
  static let digests = EditStage<DigestsDraft>(
    "digests",
    ["digest": EditPart(get: { try $0.target().edited }, set: { try $0.setTarget(try [UInt8]?(edited: $1)) })],
    [
      "truncate": { draft, arguments in
        let count = try arguments.integer(0)
        draft.namespaces = draft.namespaces.map { namespace in
          DigestNamespace(
            name: namespace.name, digests: namespace.digests.map { ($0.id, Array($0.digest.prefix(count))) })
        }
      },
      "removeNamespace": { draft, _ in
        let namespace = draft.items.setup.anyRequested.namespace
        draft.namespaces.removeAll { $0.name == namespace }
      },
    ])
  /// The mobile security object.
  static let mso = EditStage(
    "mso", map,
    [
      // An Edwards key has no y coordinate. Its x coordinate is made too short instead.
      "spoilDeviceKey": { mso, _ in
        mso.nested("deviceKeyInfo") {
          $0.nested("deviceKey") { key in
            if case .bytes(let y)? = key[-3] { key[-3] = .bytes(y.flippedAtEnd) } else { key[-2] = .bytes([1]) }
          }
        }
      }
    ])
  /// The items that the wallet returns.
  static let disclosure = EditStage("disclosure", itemParts, itemActions)
  /// IssuerAuth before it is signed, and its four parts afterwards.
  static let issuerAuth = EditStage(
    "issuerAuth", sign1,
    [
      "steal": { draft, _ in try draft.steal() },
      // Adds unknown parameters to each header.
      "addParameters": { draft, arguments in
        for label in 0..<(try arguments.integer(0)) {
          draft.protected[-70_000 - label] = 0
          draft.unprotected[-80_000 - label] = 0
        }
      },
    ])
  static let issuerAuthParts = EditStage("issuerAuthParts", coseParts)
  /// The stages of device authentication: its inputs, the signature and the MAC, and DeviceSigned.
  static let deviceAuth = EditStage<DeviceAuthDraft>(
    "deviceAuth",
    [
      "docType": .at(\.docType), "transcript": .at(\.transcript), "macKeyInfo": .at(\.macKeyInfo),
      "macLength": .at(\.macLength),
    ],
    [
      "sign": { draft, _ in (draft.hasSignature, draft.hasMAC) = (true, false) },
      "authenticate": { draft, _ in (draft.hasSignature, draft.hasMAC) = (false, true) },
      "signAndAuthenticate": { draft, _ in (draft.hasSignature, draft.hasMAC) = (true, true) },
      "key": { $0.key = try $0.seed.key($1.text(0), on: $0.key.curve) },
      "steal": { draft, _ in draft.key = try MockSeed.attacker.key("device", on: .p256) },
    ])
  static let deviceSignature = EditStage("deviceSignature", sign1)
  static let deviceMAC = EditStage<COSEMac0Draft>(
    "deviceMAC", ["protected": .at(\.protected), "isAttached": .at(\.isAttached)])
  static let deviceSignatureParts = EditStage("deviceSignatureParts", coseParts)
  static let deviceSigned = EditStage("deviceSigned", map)
  static let document = EditStage("document", map)

  // MARK: The response

  static let response = EditStage<ResponseDraft>(
    "response",
    [
      "": .at(\.fields),
      "requestedType": .reading { .text($0.request.documents.first?.docType ?? MockDocType.mDL) },
      "otherType": .reading { draft in
        guard draft.request.documents.count > 1 else {
          throw MockError.nothingToChange("only one type of document is requested")
        }
        return draft.request.documents.last.map { .text($0.docType) }
      },
    ],
    [
      // Arguments: a label for the document's seed, and whether its issuer is untrusted.
      "addDocument": { draft, arguments in
        let isUntrusted = try arguments(1).map { try Bool(edited: $0) } ?? false
        let document = try draft.anotherDocument(
          try arguments.text(0), isUntrusted ? MockMutation(setup) { try $0.useUnknownRoot() } : .none)
        draft.fields["documents"] = try (draft.fields["documents"] ?? .array([])).adding(.array([document]))
      }
    ])
  static let responseBytes = EditStage("responseBytes", bytes)

  // MARK: Apple in-app

  /// The session as the device sees it, then the envelope's plaintext, members and bytes.
  static let session = EditStage<AppleEnvelopeDraft>(
    "session",
    [
      "nonce": .at(\.session.nonce), "merchantID": .at(\.session.merchantID), "teamID": .at(\.session.teamID),
      "infoHash": .at(\.claimedInfoHash), "transcript": .at(\.otherTranscript),
      "recipientHash": .reading { .bytes($0.session.recipientHash) },
      "recipientKey": EditPart(
        get: { .bytes($0.session.recipientKey.encoded) },
        set: { $0.session.recipientKey = try PublicKey(curve: .p256, encoded: try [UInt8](edited: $1)) }),
      // The session as the relying party knows it.
      "expected.merchantID": .reading { .text($0.expected.merchantID) },
      "expected.teamID": .reading { .text($0.expected.teamID) },
      "expected.transcript": .reading { .bytes(MockSessionTranscript.apple($0.expected)) },
    ],
    [
      "otherMerchant": { draft, _ in
        draft.session.recipientKey = try MockSeed(draft.session.nonce).key("another merchant", on: .p256).publicKey
      }
    ])
  static let plaintext = EditStage<PlaintextDraft>(
    "plaintext", ["": .at(\.value), "response": .reading { .bytes($0.response) }])
  static let envelope = EditStage("envelope", map)
  static let envelopeBytes = EditStage("envelopeBytes", bytes)

  // MARK: Parts of several stages

  static let map: [String: EditPart<MapDraft>] = ["": .at(\.self)]
  static let bytes: [String: EditPart<[UInt8]>] = ["": .at(\.self)]

  /// The four parts of a COSE_Sign1 or COSE_Mac0.
  static let coseParts: [String: EditPart<[CBORValue]>] = [
    "": .list(\.self), "protected": .element(0), "unprotected": .element(1), "payload": .element(2),
    "signature": .element(3),
  ]

  private static let sign1: [String: EditPart<COSESign1Draft>] = [
    "protected": .at(\.protected), "unprotected": .at(\.unprotected), "hash": .at(\.hash),
    // Sets the signed payload and the structure's payload. The two differ only in wrong structures.
    "payload": EditPart(
      get: { .bytes($0.payload) },
      set: { draft, value in
        draft.payload = try [UInt8](edited: value)
        draft.presentedPayload = .bytes(draft.payload)
      }),
    "presented": .at(\.presentedPayload),
    "mso": .reading { $0.content.value },
    "fullySpecified": .reading { .integer(CurveIdentifiers($0.key.curve).fullySpecified) },
  ]

  /// Part `""` is the map of a requested element's item.
  private static let itemParts: [String: EditPart<ItemsDraft>] = [
    "": target(\.fields), "content": target(\.content), "tagHead": target(\.tagHead),
    "fields": .reading { try $0.target.fields.value },
    // Replaces the item under its tag.
    "presented": target(\.presented),
  ]

  private static func target<Value: EditValue>(
    _ path: any WritableKeyPath<IssuedItem, Value> & Sendable
  ) -> EditPart<ItemsDraft> {
    EditPart(
      get: { try $0.target[keyPath: path].edited },
      set: { draft, value in try draft.changeTarget { $0[keyPath: path] = try Value(edited: value) } })
  }

  private static let itemActions: [String: EditAction<ItemsDraft>] = [
    "removeAll": { draft, _ in draft.namespaces = [] },
    // Repeats the item, or adds an item with another value and a digest identifier of its own.
    "repeat": { draft, arguments in
      let namespace = try draft.targetIndex.namespace
      var second = try draft.target
      if let value = arguments(0) {
        second.digestID = draft.namespaces[namespace].freeDigestID
        second.value = value
      }
      draft.namespaces[namespace].items.append(second)
    },
    "shareDigestID": { draft, _ in
      let (namespace, item) = try draft.targetIndex
      guard let other = draft.namespaces[namespace].items.indices.first(where: { $0 != item }) else {
        throw MockError.nothingToChange("only one element is returned")
      }
      draft.namespaces[namespace].items[other].digestID = try draft.target.digestID
    },
    // Digest identifier 0, which every namespace has.
    "takeFirstDigestID": { draft, _ in
      let (namespace, item) = try draft.targetIndex
      if let swapped = draft.namespaces[namespace].items.firstIndex(where: { $0.digestID == 0 }) {
        draft.namespaces[namespace].items[swapped].digestID = try draft.target.digestID
      }
      draft.namespaces[namespace].items[item].digestID = 0
    },
    // Moves the item to the given namespace, or by default to another namespace of the document.
    "move": { draft, arguments in
      let own = draft.setup.anyRequested.namespace
      let other = draft.setup.data.namespaces.map(\.name).first { $0 != own } ?? "org.evil.1"
      let name = arguments.values.isEmpty ? other : try arguments.text(0)
      let (namespace, item) = try draft.targetIndex
      let moved = draft.namespaces[namespace].items.remove(at: item)
      if let index = draft.namespaces.firstIndex(where: { $0.name == name }) {
        draft.namespaces[index].items.append(moved)
      } else {
        draft.namespaces.append(IssuedNamespace(name: name, items: [moved]))
      }
    },
  ]
}

extension COSESign1Draft {
  /// Replaces the device key in the presented MSO by the attacker's key.
  fileprivate mutating func steal() throws {
    var mso = content
    let attacker = try MockSeed.attacker.key("device", on: .p256).publicKey
    mso.nested("deviceKeyInfo") { $0["deviceKey"] = COSEKey.fields(of: attacker).value }
    presentedPayload = .bytes(CBORValue.embedded(mso.value).encoded())
  }
}

extension MockSeed {
  fileprivate static let attacker = MockSeed(Array("attacker".utf8))
}

extension Stages {
  /// The stage for a document with a zero-knowledge proof.
  static let zkDocument = EditStage<ZkDocumentDraft>(
    "zkDocument", zkDocumentParts.merging(certificate(\.signer!.certificate, "certificate")) { $1 }, zkDocumentActions)

  private static let zkDocumentParts: [String: EditPart<ZkDocumentDraft>] = [
    "now": .reading(\.now.edited), "data": .at(\.data), "proof": .at(\.proof),
    "document": EditPart(get: { $0.fields.value }, set: { $0.document = MapDraft($1) }),
    "namespace": .at(\.namespace.key), "elements": .at(\.namespace.value),
    "twoElements": EditPart(
      get: { draft in
        if case .array(let elements) = draft.namespace.value, elements.count > 1 { return draft.namespace.value }
        throw MockError.nothingToChange("only one element is proven; two are needed")
      }, set: { $0.namespace.value = try CBORValue(edited: $1) }),
    // The section offsets of the proof's two parts, one part for each circuit.
    "hash": .reading { offsets($0.hash) }, "signature": .reading { offsets($0.signature) },
    "circuit.hash": .reading { .text($0.circuit.hash) },
    "circuit.otherVersion": .reading { draft in
      let circuit = draft.circuit
      return KnownCircuit.all.first { $0.elements == circuit.elements && $0 != circuit }.map { .text($0.label) }
    },
    "circuit.forTwoElements": .reading { _ in .text(KnownCircuit.all.first { $0.elements == 2 }?.label ?? "") },
    "root": .reading { .bytes(try $0.authority.goodRoot(at: $0.now)) },
  ]

  private static func offsets(_ sections: ProofSections) -> CBORValue {
    .map(sections.map { (.text($0.key), .integer(Int64($0.value))) })
  }

  private static let zkDocumentActions: [String: EditAction<ZkDocumentDraft>] = [
    // Uses another signer's certificate. With a curve as the argument, the certificate is for a new key on that curve.
    "signer": { draft, arguments in
      let issuer = try draft.authority.certificateIssuer(.good)
      var signer = try MockSigner(authority: draft.authority, under: issuer, at: draft.now)
      signer.certificate.nameList(at: draft.authority.addresses.crl(of: AnchorKind.good.rawValue))
      if let curve = arguments(0) {
        signer.key = try draft.authority.seed.key("zk/another-signer", on: Curve(edited: curve))
        signer.certificate.certify(.info(of: signer.key.publicKey))
      }
      draft.signer = signer
    },
    "impostor": { draft, _ in draft.signer?.issuerKey = try draft.authority.impostor },
    // Moves the certificate chain from the document data to the enclosing ZkDocument.
    "moveChainOutside": { draft, _ in
      let chain = draft.data["msoX5chain"] ?? .null
      draft.data["msoX5chain"] = nil
      draft.document = MapDraft([("msoX5chain", chain)] + draft.fields.entries)
    },
  ]
}
