import Base
import CBOR
import Mock
import Testing

@testable import Mdoc

/// The document types and elements of the standards.
@Suite struct CatalogueTests {
  private static let fullDate = CBORValue.tagged(1_004, "1990-04-12")

  private static func allows(_ value: CBORValue, for element: ElementReference) -> Bool {
    guard let item = try? CBORItem(parsing: value.encoded()) else { return false }
    return DocTypeCatalogue.expectedTypes(of: element, violatedBy: item) == nil
  }

  @Test func itHasTheDocumentTypesOfTheStandardsByEachSpelling() {
    let docTypes = DocTypeCatalogue.all.flatMap(\.spellings)
    #expect(
      docTypes == [
        "org.iso.18013.5.1.mDL", "org.iso.23220.photoid.1", "org.iso.23220.photoID.1", "eu.europa.ec.eudi.pid.1",
        "eu.europa.ec.av.1", "org.iso.23220.1.jp.mnc",
      ])
    #expect(DocTypeCatalogue.definition(of: DocType.photoIDDraft)?.docType == DocType.photoID)
    #expect(DocTypeCatalogue.definition(of: "org.iso.23220.PhotoID.1") == nil)
  }

  @Test(arguments: [
    ("org.iso.18013.5.1.mDL", "org.iso.18013.5.1"), ("org.iso.23220.photoid.1", "org.iso.23220.1"),
    ("org.iso.23220.photoID.1", "org.iso.23220.1"), ("eu.europa.ec.eudi.pid.1", "eu.europa.ec.eudi.pid.1"),
    ("eu.europa.ec.av.1", "eu.europa.ec.av.1"), ("org.iso.23220.1.jp.mnc", "org.iso.23220.1"),
    ("org.example.unknown", "org.example.unknown"),
  ])
  func agesAreInOneNamespaceOfEachType(docType: String, namespace: String) {
    #expect(DocTypeCatalogue.ageNamespace(ofDocType: docType) == namespace)
  }

  @Test func everyNameIsThereOnceAndHasALabel() {
    for definition in DocTypeCatalogue.all {
      var references: Set<ElementReference> = []
      for namespace in definition.namespaces {
        for element in namespace.elements {
          #expect(references.insert(ElementReference(namespace.name, element.identifier)).inserted)
          #expect(!element.label.isEmpty)
        }
        // Two elements of one label could not be told apart on a form.
        #expect(Set(namespace.elements.map(\.label)).count == namespace.elements.count, "\(namespace.name)")
      }
      #expect(definition.namespaces.contains { $0.name == definition.ageNamespace })
    }
  }

  /// WG 4 N 4862 of 2025-12 and N 4583 of 2024.
  @Test func `a photo ID has the elements of both drafts, and each says of which`() throws {
    func sources(_ namespace: String) throws -> [String?: Set<String>] {
      let definition = try #require(DocTypeCatalogue.definition(of: DocType.photoID))
      let elements = try #require(definition.namespaces.first { $0.name == namespace }).elements
      return Dictionary(grouping: elements, by: \.source).mapValues { Set($0.map(\.identifier)) }
    }
    let (newer, older) = ("ISO/IEC 23220-4 (2025-12)", "ISO/IEC 23220-4 (2024)")
    let base = try sources("org.iso.23220.1")
    #expect(
      base[newer] == [
        "family_name", "family_name_viz", "given_name", "given_name_viz", "issuing_authority", "resident_address",
        "resident_city", "enrolment_portrait_image", "age_over_18",
      ])
    #expect(
      base[older] == [
        "family_name_unicode", "given_name_unicode", "issuing_authority_unicode", "resident_address_unicode",
        "resident_city_unicode",
      ])
    #expect(base[nil]?.isSuperset(of: ["birth_date", "portrait", "family_name_latin1", "document_number"]) == true)
    let own = try #require(try sources("org.iso.23220.photoid.1")[newer])
    let before = try #require(try sources("org.iso.23220.photoID.1")[older])
    #expect(own.subtracting(before) == ["travel_document_type", "travel_document_mrz"] && own.isSuperset(of: before))
    let groups = try sources("org.iso.23220.datagroups.1")
    #expect(groups == [newer: Set(["version", "sod"] + (1...16).map { "dg\($0)" })])
    #expect(Self.allows(.text("P"), for: ElementReference(Namespace.iso23220PhotoID, "travel_document_type")))
    #expect(!Self.allows(.integer(1), for: ElementReference(Namespace.iso23220PhotoID, "travel_document_mrz")))
    #expect(!Self.allows(.text("61"), for: ElementReference(Namespace.iso23220DataGroups, "dg1")))
  }

  /// Rulebook 1.7, by the amended CIR 2024/2977.
  @Test func `what an edition has dropped is marked`() throws {
    let pid = try #require(DocTypeCatalogue.definition(of: DocType.europeanPID))
    func element(_ name: String) -> ElementDefinition? { pid.element(ElementReference(Namespace.europeanPID, name)) }
    #expect(element("resident_house_number")?.source == "PID Rulebook before 1.6")
    #expect(element("birth_place")?.source == "PID Rulebook before 1.1" && element("birth_date")?.source == nil)
    #expect(element("expiry_date")?.isMandatory == false)
    let licence = try #require(DocTypeCatalogue.definition(of: DocType.mDL))
    let street = licence.element(ElementReference(Namespace.mDL, "resident_street"))
    #expect(street?.source == "ISO/IEC 18013-5, second edition")
    #expect(licence.element(ElementReference(Namespace.mDL, "biometric_template_face"))?.types == .bytes)
  }

  @Test func aValueOfAnotherTypeThanTheElementsIsNotAllowed() {
    let date = ElementReference(Namespace.mDL, "birth_date")
    #expect(Self.allows(Self.fullDate, for: date))
    #expect(Self.allows(.tagged(0, "1990-04-12T00:00:00Z"), for: date))
    #expect(!Self.allows(.text("1990-04-12"), for: date))
    let photoIDDate = ElementReference(Namespace.iso23220, "birth_date")
    #expect(!Self.allows(.map([]), for: photoIDDate))
    #expect(Self.allows(["birth_date": Self.fullDate], for: photoIDDate))
    #expect(Self.allows(["birth_date": Self.fullDate, "approximate_mask": "00001111"], for: photoIDDate))
    #expect(!Self.allows(["birth_date": Self.fullDate, "approximate_mask": "0000111"], for: photoIDDate))
    #expect(!Self.allows(["birth_date": "1990-04-12"], for: photoIDDate))
    #expect(!Self.allows(["birth_date": Self.fullDate], for: date))
    let sex = ElementReference(Namespace.mDL, "sex")
    #expect(Self.allows(.integer(0), for: sex))
    #expect(!Self.allows(.integer(-1), for: sex))
    #expect(!Self.allows(.double(1), for: sex))
    #expect(!Self.allows(.null, for: sex))
  }

  @Test(arguments: [Namespace.mDL, Namespace.iso23220, Namespace.europeanPID, Namespace.europeanAgeVerification])
  func ageAttestationsAreBooleansWhereverATypeHasThem(namespace: String) {
    for age in ["00", "18", "99"] {
      let element = ElementReference(namespace, "age_over_" + age)
      #expect(Self.allows(.bool(false), for: element))
      #expect(!Self.allows(.integer(1), for: element))
    }
    #expect(Self.allows(.integer(1), for: ElementReference(namespace, "age_over_100")))
  }

  @Test func whatItDoesNotListPassesThrough() {
    for element in [
      ElementReference(Namespace.mDL, "shoe_size"), ElementReference("org.example", "birth_date"),
      ElementReference(Namespace.aamva, "age_over_18"), ElementReference(Namespace.aamva, "EDL_credential.v2"),
    ] {
      #expect(Self.allows(.tagged(4, .array([])), for: element))
    }
  }

  /// The Kelvin sign is canonically equivalent to K, so Swift's `==` treats them as equal.
  @Test func namesAreBytes() {
    #expect(DocTypeCatalogue.definition(of: "org.iso.18013.5.1.mDL\u{200d}") == nil)
    let kelvin = "a\u{212a}a_given_name"
    #expect(kelvin == "aKa_given_name")
    #expect(Spelling.isOneEdit("aKa_given_name", "aka_given_name"))
    #expect(!Spelling.isOneEdit(kelvin, "aka_given_name"))
    let angstrom = ElementReference("\u{212b}", "sex")
    #expect(Self.allows(.text("f"), for: angstrom))
  }

  @Test(arguments: [
    ("given_nam", "given_name"), ("givenname", "given_name"), ("given_nome", "given_name"),
    ("Given_Name", "given_name"), ("given_names", "given_name"),
  ])
  func aSlipOfTheKeyboardHasANeighbour(asked: String, meant: String) {
    let neighbour = DocTypeCatalogue.neighbour(of: ElementReference(Namespace.mDL, asked), inDocType: DocType.mDL)
    #expect(neighbour == ElementReference(Namespace.mDL, meant))
  }

  @Test func `letters that changed places are two slips of an element's name, and one step of a guess`() {
    #expect(!Spelling.isOneEdit("given_nmae", "given_name"))
    #expect(Spelling.distance(from: "vreify", to: "verify") == 1 && Spelling.distance(from: "", to: "abc") == 3)
    let names = ["verify", "inspect", "keys"]
    #expect(Spelling.nearest(to: "vreify", among: names) == "verify")
    #expect(Spelling.nearest(to: "insp", among: names) == "inspect")
    #expect(Spelling.nearest(to: "key", among: names) == "keys")
    #expect(Spelling.nearest(to: "zebra", among: names) == nil)
  }

  @Test func whatIsKnownOrFarAwayHasNoNeighbour() {
    for element in [
      ElementReference(Namespace.mDL, "given_name"), ElementReference(Namespace.mDL, "age_over_21"),
      ElementReference(Namespace.mDL, "shoe_size"), ElementReference("org.iso.18013.5.2", "given_nam"),
    ] {
      #expect(DocTypeCatalogue.neighbour(of: element, inDocType: DocType.mDL) == nil)
    }
    let misplaced = ElementReference("org.iso.18013.5.2", "given_name")
    let neighbour = DocTypeCatalogue.neighbour(of: misplaced, inDocType: DocType.mDL)
    #expect(neighbour == ElementReference(Namespace.mDL, "given_name"))
    #expect(DocTypeCatalogue.neighbour(of: misplaced, inDocType: "org.example") == nil)
  }

  /// The mock issuer shares no code with the catalogue. All its elements are in the catalogue, with the right types.
  @Test func theMockDocumentsAreOfTheCataloguesTypes() throws {
    for document in MockPerson.documents {
      let definition = try #require(DocTypeCatalogue.definition(of: document.docType))
      for namespace in document.namespaces {
        for element in namespace.elements {
          #expect(definition.element(ElementReference(namespace.name, element.identifier)) != nil)
        }
      }
      let first = try #require(definition.namespaces.first)
      let given = document.namespaces.first { $0.name == first.name }?.elements.map(\.identifier) ?? []
      let mandatory = first.elements.filter(\.isMandatory)
      // All elements that one edition makes mandatory.
      let editions = Set(mandatory.map(\.source))
      let isWhole = editions.contains { edition in
        mandatory.filter { $0.source == nil || $0.source == edition }.allSatisfy { given.contains($0.identifier) }
      }
      #expect(isWhole, "\(document.docType)")
    }
  }
}
