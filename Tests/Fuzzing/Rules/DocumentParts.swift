import CBOR
import Cryptography

/// The signed parts of one Document, found independently of the verifier.
struct DocumentParts {
  let docType: String?
  let issuerAuth: CBORItem
  /// The issuer's signed bytes, and the mobile security object in them.
  let payload: ArraySlice<UInt8>
  let mso: CBORItem
  /// `#6.24(bstr .cbor IssuerSignedItem)` with their namespaces.
  let items: [(namespace: String, item: CBORItem)]
  let deviceNameSpaces: CBORItem?

  init?(_ document: CBORItem) {
    guard let issuerSigned = document[key: "issuerSigned"], let issuerAuth = issuerSigned[key: "issuerAuth"],
      let fields = issuerAuth.elements.map(Array.init), fields.count == 4, let payload = fields[2].bytes,
      let mso = try? CBORItem(parsingContentOf: fields[2]).embedded
    else { return nil }
    docType = document[key: "docType"]?.text
    self.issuerAuth = issuerAuth
    self.payload = payload
    self.mso = mso
    var items: [(String, CBORItem)] = []
    for (namespace, list) in issuerSigned[key: "nameSpaces"]?.entryList ?? [] {
      for item in list.elementList { items.append((namespace.text ?? "", item)) }
    }
    self.items = items
    deviceNameSpaces = document[key: "deviceSigned"]?[key: "nameSpaces"]
  }

  var hash: HashAlgorithm? {
    switch mso[key: "digestAlgorithm"]?.text {
    case "SHA-256": .sha256
    case "SHA-384": .sha384
    case "SHA-512": .sha512
    default: nil
    }
  }
}

extension CBORItem {
  /// The elements of an array; empty for other items.
  var elementList: [CBORItem] { elements.map { Array($0) } ?? [] }

  /// The entries of a map; empty for other items.
  var entryList: [(key: CBORItem, value: CBORItem)] {
    var list: [(key: CBORItem, value: CBORItem)] = []
    if let entries { for entry in entries { list.append(entry) } }
    return list
  }
}
