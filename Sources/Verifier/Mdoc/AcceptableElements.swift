/// The elements that satisfy a document's request: as `sets` for DCQL, and as each element's `substitutes` for a
/// DeviceRequest. Both forms are made here, so that a wallet returns the same elements over both protocols.
public struct AcceptableElements: Sendable, Hashable {
  /// Every element that is requested by name, without duplicates.
  public private(set) var requests: [ElementRequest]
  /// The elements that satisfy each request, preferred first: the element itself, then its alternatives.
  private let choices: [[ElementReference]]

  /// - Parameter isProof: whether only a proof is requested. A proof shows all requested elements.
  public init(_ document: DocumentRequest, isProof: Bool = false) {
    requests = document.namedElements
    for index in requests.indices where isProof { requests[index].isRequired = true }
    choices = requests.map { ([$0.element] + $0.alternatives).unique }
    (substitutes, coversOptional) = Self.substitutes(requests, choices, of: document.docType)
  }

  /// The bound of `sets`: all subsets of six optional elements.
  public static let mostSets = 64
  /// Maximum number of names in all the likeliest sets together. A session contains several requests, each with its
  /// sets.
  public static let mostNames = 1_024

  /// Non-empty sets of elements. A wallet returns all elements of one set. Sets that lack fewer optional
  /// elements come first. Of equal sets, those with earlier alternatives come first.
  ///
  /// All combinations are listed if there are at most `mostSets` of them, with at most twice `mostNames` names.
  /// Otherwise the likeliest combinations are listed, up to both bounds. These have all optional elements or none, then
  /// all but one, then only one. In the last kind, one element is replaced by its alternative, and all others are
  /// listed. Each of the first three kinds is listed with every element's own name, then with every element's first
  /// alternative, and so on.
  public var sets: [[ElementReference]] {
    let counts = zip(choices, requests).map { $0.count + ($1.isRequired ? 0 : 1) }
    let isShort = counts.reduce(1) { min($0 * $1, Self.mostSets + 1) } <= longest(2 * Self.mostNames)
    // A combination lists the index of each element's choice. The number of choices stands for an omitted element.
    let combinations =
      isShort
      ? counts.reduce([[]]) { found, count in found.flatMap { start in (0..<count).map { start + [$0] } } } : likeliest
    func cost(_ combination: [Int]) -> (lacking: Int, rank: Int) {
      (zip(combination, choices).count { $0 == $1.count }, combination.reduce(0, +))
    }
    var known = Set<Set<ElementReference>>()
    return combinations.sorted { cost($0) < cost($1) }.compactMap { combination in
      let set = zip(combination, choices).compactMap { $0 < $1.count ? $1[$0] : nil }.unique
      return !set.isEmpty && known.insert(Set(set)).inserted ? set : nil
    }
  }

  /// The number of sets that together have at most this many names.
  private func longest(_ names: Int) -> Int { min(Self.mostSets, max(2, names / max(1, requests.count))) }

  private var likeliest: [[Int]] {
    let optional = requests.indices.filter { !requests[$0].isRequired }
    let levels = (0..<(choices.map(\.count).max() ?? 0)).map { level in choices.map { min(level, $0.count - 1) } }
    var found: [[Int]] = []
    var known = Set<[Int]>()
    func add(_ level: [Int], without omitted: [Int]) {
      guard found.count < longest(Self.mostNames) else { return }
      var combination = level
      for index in omitted { combination[index] = choices[index].count }
      if known.insert(combination).inserted { found.append(combination) }
    }
    let omissions = [
      [[], optional], optional.map { [$0] }, optional.map { index in optional.filter { $0 != index } },
    ]
    for omitted in omissions { for level in levels { for indices in omitted { add(level, without: indices) } } }
    for index in choices.indices {
      for choice in choices[index].indices {
        var level = levels[0]
        level[index] = choice
        add(level, without: [])
      }
    }
    return found
  }

  /// The bound of the combinations of elements and their substitutes. A wallet may try them all, as Multipaz does.
  public static let mostCombinations = 4_096

  /// Each request's alternatives, preferred first (ISO/IEC 18013-5, second edition, 10.2.4). An alternative satisfies
  /// the request instead. An optional element also gets a required element as its last substitute. A DeviceRequest has
  /// no other way to make an element optional.
  ///
  /// If no element is required, up to three elements are substitutes for one another. If there are more, one of them is
  /// the substitute for all others. Beyond `mostCombinations` no further element has substitutes.
  public let substitutes: [[ElementReference]]
  /// Whether the substitutes admit every document that has at least one element and all required elements.
  public let coversOptional: Bool

  private static func substitutes(
    _ requests: [ElementRequest], _ choices: [[ElementReference]], of docType: String
  ) -> (substitutes: [[ElementReference]], coversOptional: Bool) {
    let definition = DocTypeCatalogue.definition(of: docType)
    // The cost of an element as a substitute. A good substitute is small, has only one name, and is in every document.
    let unfitness = requests.indices.map { index in
      let element = requests[index].element
      return (element.identifier == "portrait" ? 16 : 0) + (choices[index].count > 1 ? 4 : 0)
        + (AgeAttestations.age(of: element.identifier) != nil ? 2 : 0)
        + (definition?.element(element)?.isMandatory == true ? 0 : 1)
    }
    /// The best substitute, preferably with this IntentToRetain: a wallet applies it to the substitute that it returns.
    func best(of indices: [Int], kept intent: Bool?) -> [Int] {
      func cost(_ index: Int) -> Int {
        unfitness[index] + (intent ?? requests[index].intentToRetain != requests[index].intentToRetain ? 8 : 0)
      }
      return indices.min { cost($0) < cost($1) }.map { [$0] } ?? []
    }
    let required = requests.indices.filter { requests[$0].isRequired }
    let isMutual = required.isEmpty && requests.count <= 3
    let pivot = best(of: Array(requests.indices), kept: nil)
    func shared(by index: Int) -> [Int] {
      guard required.isEmpty else { return best(of: required, kept: requests[index].intentToRetain) }
      return (isMutual ? Array(requests.indices) : pivot).filter { $0 != index }
    }
    var combinations = 1
    var coversOptional = !required.isEmpty || isMutual
    let substitutes = requests.indices.map { index -> [ElementReference] in
      let own = choices[index].dropFirst()
      let others = requests[index].isRequired ? [] : shared(by: index).flatMap { choices[$0] }
      let most = mostCombinations / combinations - 1
      let possible = [Array(own) + others, others].map(\.unique).first { $0.count <= most } ?? []
      let found = possible.filter { $0 != requests[index].element }
      if found.isEmpty, !others.isEmpty { coversOptional = false }
      combinations *= 1 + found.count
      return found
    }
    return (substitutes, coversOptional)
  }
}

extension [ElementReference] {
  /// The first occurrence of each element.
  fileprivate var unique: [ElementReference] {
    var known = Set<ElementReference>()
    return filter { known.insert($0).inserted }
  }
}
