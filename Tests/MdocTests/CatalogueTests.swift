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

  /// The Kelvin sign is canonically equivalent to K, so that Swift's `==` takes one for the other.
  @Test func namesAreBytes() {
    #expect(DocTypeCatalogue.definition(of: "org.iso.18013.5.1.mDL\u{200d}") == nil)
    let kelvin = "a\u{212a}a_given_name"
    #expect(kelvin == "aKa_given_name")
    #expect(Spelling.isOneSlip("aKa_given_name", "aka_given_name"))
    #expect(!Spelling.isOneSlip(kelvin, "aka_given_name"))
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
    #expect(!Spelling.isOneSlip("given_nmae", "given_name"))
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

  /// What the mock issuer writes, which shares nothing with the catalogue, is in it and of its types.
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
      for element in first.elements where element.isMandatory { #expect(given.contains(element.identifier)) }
    }
  }
}
