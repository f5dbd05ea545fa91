import Base
import CBOR

/// The mock wallet's owner. All her documents agree with the mock authority's certificates (C=US, ST=US-UT).
package enum MockPerson {
  /// The documents of the corpus.
  package static let documents: [MockDocumentData] = [mDL, photoID]

  /// The wallet's default documents: one document of every type that the verifier knows.
  package static let allDocuments: [MockDocumentData] = documents + [proofOfAge, europeanPID, japanMyNumber]

  /// A licence with another number, for requests for two licences.
  package static let secondLicence: MockDocumentData = {
    var licence = mDL
    licence[MockNamespace.mDL, "document_number"] = "M18013506"
    return licence
  }()

  /// The EU's proof of age (Age Verification Profile, Annex A).
  package static let proofOfAge = MockDocumentData(
    docType: MockDocType.proofOfAge, namespaces: [.init(MockDocType.proofOfAge, [("age_over_18", true)])],
    ageThresholds: [])

  /// The driving licence of ISO/IEC 18013-5, Table 5, and the AAMVA mDL Implementation Guidelines.
  package static let mDL = MockDocumentData(
    docType: MockDocType.mDL,
    namespaces: [
      .init(
        MockNamespace.mDL,
        [
          ("family_name", "Morgan"), ("given_name", "Ada"), ("birth_date", date(1990, 4, 12)),
          ("issue_date", date(2024, 2, 1)), ("expiry_date", date(2032, 4, 12)), ("issuing_country", "US"),
          ("issuing_authority", "Utah Mock Driver License Division"), ("document_number", "M18013505"),
          ("portrait", .bytes(MockPortrait.jpeg)),
          ("driving_privileges", [privilege("B", from: date(2008, 9, 15)), privilege("A", from: date(2015, 5, 4))]),
          ("un_distinguishing_sign", "USA"), ("sex", 2), ("height", 168), ("weight", 63),
          ("eye_colour", "green"), ("hair_colour", "brown"),
          ("resident_address", "52 Example Avenue"), ("resident_city", "Salt Lake City"), ("resident_state", "UT"),
          ("resident_postal_code", "84101"), ("resident_country", "US"),
          ("issuing_jurisdiction", "US-UT"), ("nationality", "US"),
        ]),
      .init(
        MockNamespace.aamva,
        [
          ("DHS_compliance", "F"), ("sex", 2), ("family_name_truncation", "N"), ("given_name_truncation", "N"),
          ("organ_donor", 1), ("domestic_driving_privileges", [domesticPrivilege]),
        ]),
    ],
    ageThresholds: [18, 21, 25, 65])

  /// The photo ID of ISO/IEC 23220, with Apple's and Google's members.
  package static let photoID = MockDocumentData(
    docType: MockDocType.photoID,
    namespaces: [
      .init(
        MockNamespace.photoID,
        [
          ("family_name_unicode", "Morgan"), ("given_name_unicode", "Ada"),
          ("family_name_latin1", "Morgan"), ("given_name_latin1", "Ada"),
          ("birth_date", ["birth_date": date(1990, 4, 12)]), ("portrait", .bytes(MockPortrait.jpeg)),
          ("issue_date", date(2023, 6, 20)), ("expiry_date", date(2033, 6, 19)),
          ("issuing_authority_unicode", "Mock Passport Office"), ("issuing_country", "US"),
          ("issuing_subdivision", "US-UT"), ("document_number", "P23220401"), ("sex", 2), ("nationality", "US"),
        ]),
      .init(
        MockNamespace.photoIDParticular,
        [
          ("person_id", "1001-23220"), ("birth_country", "US"), ("birth_city", "Salt Lake City"),
          ("travel_document_number", "P23220401"),
        ]),
    ],
    ageThresholds: [18, 21, 25, 65])

  /// The EU's person identification data (PID Rulebook 1.7).
  package static let europeanPID = MockDocumentData(
    docType: MockDocType.europeanPID,
    namespaces: [
      .init(
        MockDocType.europeanPID,
        [
          ("family_name", "Morgan"), ("given_name", "Ada"), ("birth_date", date(1990, 4, 12)),
          ("place_of_birth", ["country": "US", "locality": "Salt Lake City"]), ("nationality", ["US"]),
          ("resident_address", "52 Example Avenue, Salt Lake City"), ("resident_country", "US"),
          ("resident_city", "Salt Lake City"), ("resident_postal_code", "84101"),
          ("personal_administrative_number", "UT-900412-7"), ("portrait", .bytes(MockPortrait.jpeg)), ("sex", 2),
          ("expiry_date", date(2033, 6, 19)), ("issuance_date", date(2024, 6, 20)),
          ("issuing_authority", "Mock Identity Office"), ("issuing_country", "US"), ("document_number", "I23220407"),
        ])
    ],
    ageThresholds: [18, 21, 25, 65])

  /// Japan's My Number Card, as in Apple Wallet.
  package static let japanMyNumber = MockDocumentData(
    docType: MockDocType.japanMyNumber,
    namespaces: [
      .init(MockNamespace.photoID, [("birth_date", date(1990, 4, 12)), ("sex", 2)]),
      .init(
        MockNamespace.japan,
        [
          ("full_name_unicode", "モーガン エイダ"), ("portrait", .bytes(MockPortrait.jpeg)),
          ("resident_address_unicode", "東京都千代田区見本町一丁目1番1号"), ("local_gov_code_unicode", "131016"),
          ("individual_number_unicode", "000000000000"), ("sex_unicode", "女性"), ("birth_date_unicode", "平成2年4月12日"),
        ]),
    ],
    ageThresholds: [18, 20, 65])

  private static func date(_ year: Int, _ month: Int, _ day: Int) -> CBORValue {
    FullDate(year: year, month: month, day: day).map(CBORValue.fullDate) ?? .null
  }

  private static func privilege(_ category: String, from issued: CBORValue) -> CBORValue {
    ["vehicle_category_code": .text(category), "issue_date": issued, "expiry_date": date(2032, 4, 12)]
  }

  private static let domesticPrivilege: CBORValue = [
    "domestic_vehicle_class": [
      "domestic_vehicle_class_code": "D",
      "domestic_vehicle_class_description": "Any vehicle except those requiring a CDL",
      "issue_date": date(2008, 9, 15),
      "expiry_date": date(2032, 4, 12),
    ]
  ]
}

/// The namespaces of the mock documents.
package enum MockNamespace {
  package static let mDL = "org.iso.18013.5.1"
  package static let aamva = "org.iso.18013.5.1.aamva"
  package static let photoID = "org.iso.23220.1"
  package static let photoIDParticular = "org.iso.23220.photoID.1"
  package static let japan = "org.iso.23220.1.jp"
}

/// A drawing of an invented face, 144 × 180 pixels: a real baseline JPEG of 3 kB.
package enum MockPortrait {
  package static let jpeg: [UInt8] = Base64.decode(portraitBase64) ?? []

  /// The same picture, padded to `size` bytes with comments (ITU-T T.81, B.2.4.5). A larger picture stays unchanged.
  package static func jpeg(padded size: Int) -> [UInt8] {
    var missing = size - jpeg.count
    guard missing > 0 else { return jpeg }
    var filling: [UInt8] = []
    while missing > 0 {
      guard missing >= 4 else {
        // Fill bytes are allowed before any marker (B.1.1.2).
        filling += [UInt8](repeating: 0xff, count: missing)
        break
      }
      // A segment has a marker of two bytes, a length of two bytes, and the comment. The length includes its own two
      // bytes.
      let length = min(missing - 2, 0xffff)
      filling += [0xff, 0xfe, UInt8(length >> 8), UInt8(length & 0xff)]
      filling += (0..<(length - 2)).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }
      missing -= length + 2
    }
    return jpeg[..<2] + filling + jpeg[2...]
  }
}

/// The JPEG of `MockPortrait` in base64, drawn for this project.
let portraitBase64 = """
  /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAwICQsJCAwLCgsODQwOEh4UEhEREiUbHBYeLCcuLisnKyoxN0Y7MTRCNCorPVM+QkhKTk9OLztWXFVM\
  W0ZNTkv/2wBDAQ0ODhIQEiQUFCRLMisyS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0tLS0v/wAARCAC0AJAD\
  ASIAAhEBAxEB/8QAGwABAAIDAQEAAAAAAAAAAAAAAAEHAwQGAgX/xAA/EAABAwICBQYLBwUBAQAAAAABAAIDBBEFBhIhMUFREyJhcYGyFDI2UlNy\
  gpGSwdEHFSNCYqGxFiQzQ+Giwv/EABkBAAMBAQEAAAAAAAAAAAAAAAABAwIEBf/EACARAAICAgIDAQEAAAAAAAAAAAABAhEDMRIhBEFRExT/2gAM\
  AwEAAhEDEQA/AO6RQioTJRQiAJRQiAJRQiAJRQiAJRQiAJRQiAJRQiAJRQiAIRQiYEooRAEooXNZozVHhWlS0ejLW7ydbYuviej3pNpbGk26R9vE\
  sUo8Li5StnbED4rdrndQ2lclX/aAbluH0Yt585/+R9VxtVUzVc7p6mV8sr9rnG5KxKLyN6LLGls6CXOmNSG7aiOMcGRN+d1EWdMajNzURyDg+Jvy\
  svgIs8n9N8V8O2oPtAdcNr6MEb3wO1/CfquswzFqLFYtOinbJbxm7HN6xtVOrJT1EtLM2ankdFKw3a9hsQtLI1sw8aei60XLZWzYzEy2kri2Os2N\
  cNTZfoejeuoVk09EWmnTJRQiYiUUIgCEREAEReJZGQxPkkcGsY0ucTuA2oA+Lm3HvuajDICPDJwRH+gb3fTpVYPc57nOe4uc43JJuSeK3MZxKTFc\
  Rmq5L2ebMafytGwLSXPKVs6YR4oIiLBoIiIAIiIANJaQWkgg3BG5WblDH/vekMNQ7+8gHOPpG7ndfH/qrJbeFYhJheIQ1cW2N2sec3eO0LcZUzMo\
  8kXEixwTMqII5oXaUcjQ5p4grIug5giIgCEUIgRK5vPlcaXBeQYbPqn6HsjWfkO1dGq/+0So08Up4AdUUOkR0uP0AWZukbgrkcoiL7WXcvS4w8yP\
  cYqVhs54Gtx4D6rmbo6krPirbp8Kr6rXBRTvHERm3vVlYfguH4cB4NTMDx/scNJx7St/btU3P4UUPpWTMr4w4X8CcPWe0fNHZXxhov4E4+q9p+as\
  1EubHwRU9RhOIUwvPRVDBxMZI94Wmrk2bFo1+D0GItPhNMxzj+cDRcO0Jqf0Tx/CqUX3Mx5ckwgiaJxlpHGwcfGYeB+q+GqJ2TaosXIFcanCH0zz\
  d1K+w9U6x+9106rv7Pajk8ZlhvqmhPvaQfqrDXRB2jlmqkSihFswQiIgAqyzs8vzHU/paxv/AJH1VmKsM5+UlX7HdCnk0VxbNDCKL7xxKnpblolf\
  ZxG0DaSrOwugjwyhjpYnOcxlzpOtc3N9y4bIsenjodb/ABwvd/A+asRcc33R2QXVmCrq6eii5WqmZDHs0nmy0qbMOFVMoiirY9N2wPBbfquFndg8\
  NRiL6+e85jYAxsltCEDaRu18SoYzD8dilgYIatrBzmAawOI39oSSNOVOrN5Fr0FN4HSRU/LSTcmLB8njEblNbTmqpJYBM+HlG6OnH4w6lk0adVmD\
  C6SUxS1kfKDa1gLrddluUdbTV0XK0k8czNl2G9uvgtcx4dgEMMDhFSh45oI5zhxO/tK9HBoYcQjr4QYHOYQ7kraE4Owm2o8bhaaMqVurPeJUUeI0\
  MtJK5zWSgAltrixvqv1KssaoPuzE56UOLmxkaLnbSCLhWuq/z7HoY0x9v8kDT7iQnB90Ka6s1Mmv0MyUf6i5vvaVaKqzKPlHQ+ue6VaS7Mejiy7J\
  REVCRCKEQBKrDOXlJV+x3QrOVY5y8o6v2O6FPJori2bWQSBjMo3mB1veFYCrXJ84gzBTX2SB0fvGr9wrKXHPZ2w0TUtbVYRWUBdybp22bJbUDwPR\
  qXN5Iy/PgeKS1lZLzQHBrA7SLyfl09S6LSHFShZGlRmWGLdsVUw/FmItrLrBIX2LJC3WLO0SsFVzuTi892vqCzrBWujnM75fqMcxSKso5eaQ0OYX\
  aJYR8unrXS0wbSYPSUAdyroGjSktYX6OjWvKjSHFbeRtUSjhinaJXB/aAQcUphvEGv4iu8VcZ1nE2PytGyJjY+21z/KIbNT0Yco+UdD657pVpKrc\
  peUdD657pVorsx6OLLslFCKhIhFCJgSqyzl5R1fsd0KzFWecfKOr9juhSyaK4tnyKeZ9PPHNH48bg9vWDdW3Tzsq6WOeI3ZKwPb2qoV2mRcWDo3Y\
  bM7nNu+G+8b2/P3rlmrVnXB0zrNE8F7AsLKVrYhDPNTObTSmKUG4INr9CkXu+jJLDpua8PLHN1Ahe2BwbZ7tI8bWXyGY26n/AA8QppI5Btc0aipf\
  jhm5lBTSyyHYXDUE6Y+Ej65FxZeNE8Fhw6KohpgKqUySk3P6ehbSQroxyyspoHyymzI2lzj0DWqkq6h1XVTVD/GleXntK7PPWLCKAYdE78SWzpbb\
  m7h2/wABcOqwXVkJu2fXyl5R0PrnulWgquyl5RUPrnulWgurHo5MuyUUIqkgihEAFWecfKOr9juhWYqzziR/UdXr8zuhTyaKYtnxl6hlfBKyWJ5Z\
  IwhzXDaCvFxxCXHELnOgsvLuYIcXhDHkR1jRz4/O/U3o6Ny+0qcjkdE9r43lj2m7XNNiCu9yljtTiMUzKwtkMOjZ4FnG99u7cpSjXZaMr6OlIBFi\
  LjpQAAWAsOheBPGd9usIZ4xvv1BYNmRfHzBj0GDwFoIkqnj8OLh0ngP5WnmzHKnDqeEUmix0xcC9wuRYDZu3rgZZXzSOkleXvebuc43JK3GN9mJS\
  romonkqZnzTPL5JDpOcd5XhRccQlxxCqSPr5T8oqH1z3SrPVYZTI/qKh1/nPdKs9XxaOfLslFCKpIhFCIESvJYxxuWNJ4loKlEDPPJR+jZ8ITko/\
  Rs+ELFWVtPQxcpUytjbuvtPUN65nEM3vJLKCENHpJRc9g+qaVicqOr5KP0bPhC1pXwudoxOjLm+MGEauuyr+rxGsrCfCKmSQcC6w9w1Lpst17qul\
  dHIPxIbAu84bu3UpeRFqBXxpJ5D66Ii849M9xPha60zowXeKHka+q62eSjtfk2W9ULnsxV7qKjDYx+JMS1rvNG89a5alxCrozenqZI+gO1e7YvR8\
  eLcDzfJklkLK5KP0bPhCclH6Nnwhcnh+b5GkMroQ9vpIxY+7YV01FXU1dFylLK2Ro222jrG5VcaIqVmcRsBuGMB4hoXpQiQyUUIgQRQiAC+LjuYY\
  8OvBBaWq3j8rOvp6F5zJjf3fH4PTuHhTxe/oxx6+C4gkuJLiSSbknetxjfbMylXSMtVUzVcxmqJHSSHeflwWFEVCYW1Q4jUUGn4O5rdO2ldoN7LV\
  RJpNUxpuLtHe4dWx19K2aPUdjm+aeC9V9ZHQ0r55Ng1Bu9x3Bcfg2Iuw6qDjcwv1SN6OPWF6xrEjiFVdpIgj1Rjj09q4f5n+lejv/qX537MNdiVT\
  X6IqHNIYSWgNAtdaiIu5JRVI4G3J2wstPUTUszZYJHRyN2OaViRMR3GBZijr9GCp0YqnYLeLJ1cD0L7iqwEg3BsQu0y1jZrmeC1Tv7lg5rj/ALB9\
  VOUfaKRl6Z0CKEWDRC1sSrWUFFLUv16A1DzjuC2FyOc6wvqIqRp5sY03+sdn7fytJWxN0jn6iaSpmfNM7SkkOk49KxoiqSCIiACIiACIiACIiACI\
  iAC9wyvglZLE4tkYQ5pG4rwiALIwuubiNDHUNsC4Wc3zXDaFtrjsm1hirJKVx5kzdJo/UP8An8LsFJqmVTtBV3jj3SYxWFxueVI7BqCInHYp6NFE\
  RUJhERABERABERABERABERABERAG5hD3R4pSOabHlmj3mysZEU5FIH//2Q==
  """
