import Base
import Mdoc
import Presentation
import Testing

@testable import MdocTool

/// `mdoc catalogue`.
@Suite struct CatalogueVerbTests {
  @Test func documentTypesAreListedWithTheirNamespaces() async throws {
    for width in [80, 120] {
      let run = await Run(["catalogue"], width: width)
      #expect(run.status == 0)
      for definition in DocTypeCatalogue.all { #expect(run.output.contains(definition.docType)) }
      #expect(run.output.contains("Also spelled org.iso.23220.photoID.1"))
      #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= width })
    }
    let json = try #require(try await Run("catalogue", "--json").json().array)
    #expect(json.compactMap { $0["doc_type"]?.string } == DocTypeCatalogue.all.map(\.docType))
  }

  @Test(arguments: DocTypeCatalogue.all.flatMap(\.spellings))
  func theElementsOfATypeAreListedWithTheirTypes(docType: String) async throws {
    for width in [80, 120] {
      let run = await Run(["catalogue", docType], width: width)
      #expect(run.status == 0)
      #expect(run.output.hasPrefix(docType + "\n"))
      #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= width })
    }
    let json = try await Run("catalogue", docType, "--json").json()
    let definition = try #require(DocTypeCatalogue.definition(of: docType))
    let listed = (json["namespaces"]?.array ?? []).map { $0["elements"]?.array?.count }
    #expect(listed == definition.namespaces.map(\.elements.count))
    #expect(json["age_namespace"]?.string == definition.ageNamespace)
    let names = AppleDocumentType(docType: definition.docType)?.elementNames ?? []
    #expect(json["apple_elements"]?.array?.compactMap(\.string) == names)
    let text = await Run(["catalogue", docType], width: 200).output
    #expect(text.contains("\napple_element  ") == !names.isEmpty)
    #expect(names.allSatisfy { text.contains("\n  \($0)  ") })
  }

  @Test func anElementIsListedWithLabelTypesAndWhetherItIsMandatory() async throws {
    let text = await Run("catalogue", DocType.mDL).output
    #expect(text.contains("  birth_date  ") && text.contains("  Date of birth · full-date or tdate · mandatory\n"))
    #expect(text.contains("age_over_NN"))
    let elements = try await Run("catalogue", DocType.mDL, "--json").json()["namespaces"]?.array?.first?["elements"]
    let portrait = elements?.array?.first { $0["identifier"] == "portrait" }
    #expect(
      portrait == [
        "identifier": "portrait", "label": "Portrait", "types": ["bstr"], "mandatory": true,
        "source": "ISO/IEC 18013-5", "apple_in_app": true,
      ])
    let street = elements?.array?.first { $0["identifier"] == "resident_street" }
    #expect(street?["apple_in_app"] == false && street?["source"] == "ISO/IEC 18013-5, second edition")
    let photo = await Run(["catalogue", DocType.photoID], width: 200).output
    #expect(photo.contains("Family name (older) · tstr · mandatory · ISO/IEC 23220-4 (2024)\n"))
  }

  @Test func anUnknownTypeIsAUsageErrorWithTheNearestName() async {
    let near = await Run("catalogue", "org.iso.18013.5.1.mdl")
    #expect(near.status == 64)
    #expect(near.hasOneLineOfError)
    #expect(near.error.contains("did you mean org.iso.18013.5.1.mDL?"))
    let far = await Run("catalogue", "passport")
    #expect(far.status == 64)
    #expect(far.error.contains("eu.europa.ec.av.1"))
    #expect(await Run("catalogue", DocType.mDL, "x").status == 64)
  }
}
