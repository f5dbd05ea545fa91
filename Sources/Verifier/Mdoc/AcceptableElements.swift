/// The elements that satisfy a document's request: each wanted element, or one of its alternatives, or nothing where it
/// is optional.
///
/// DCQL lists them as `sets`, and a DeviceRequest names `substitutes` of each element. Both are made from here, so a
/// wallet returns the same over either protocol.
public struct AcceptableElements: Sendable, Hashable {
  /// Every element that is asked for by name, once.
  public private(set) var requests: [ElementRequest]
  /// For each request the elements that satisfy it, the preferred first: the element itself, then its alternatives.
  private let choices: [[ElementReference]]

  /// - Parameter isProof: whether only a proof is asked for, which shows all that was asked for.
  public init(_ document: DocumentRequest, isProof: Bool = false) {
    requests = document.namedElements
    for index in requests.indices where isProof { requests[index].isRequired = true }
    choices = requests.map { ([$0.element] + $0.alternatives).unique }
    (substitutes, coversOptional) = Self.substitutes(requests, choices, of: document.docType)
  }

  // MARK: As sets

  /// The most sets that are listed: all subsets of six optional elements.
  public static let mostSets = 64
  /// The most names in the likeliest sets together: a session holds several requests, and each has them.
  public static let mostNames = 1_024

  /// Sets of elements of which one is to be returned as a whole, and none of them empty: those that lack the fewest
  /// optional elements first, and of these the ones with the earlier alternatives.
  ///
  /// All combinations are listed if there are no more than `mostSets`, with no more than twice `mostNames` in them. If
  /// there are more, the likeliest are listed, up to both bounds, in this order: all and none, all but one, each optional
  /// element by itself, then one element by its alternative and all others by name. Each of the first three comes with
  /// every element by its own name, then with every element by its first alternative, and so on.
  public var sets: [[ElementReference]] {
    let counts = zip(choices, requests).map { $0.count + ($1.isRequired ? 0 : 1) }
    let isShort = counts.reduce(1) { min($0 * $1, Self.mostSets + 1) } <= longest(2 * Self.mostNames)
    // A combination has the index of each element's choice, which for an element that is left out is their number.
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

  /// How many sets have no more than so many names together.
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
    for level in levels { for omitted in [[], optional] { add(level, without: omitted) } }
    for level in levels { for index in optional { add(level, without: [index]) } }
    for level in levels { for index in optional { add(level, without: optional.filter { $0 != index }) } }
    for index in choices.indices {
      for choice in choices[index].indices {
        var level = levels[0]
        level[index] = choice
        add(level, without: [])
      }
    }
    return found
  }

  // MARK: As substitutes

  /// The most combinations of elements and their substitutes. A wallet may try them all, as Multipaz does.
  public static let mostCombinations = 4_096

  /// For each request the elements of which any one satisfies in its place, the preferred first (ISO/IEC 18013-5, second
  /// edition, 10.2.4): its alternatives, and for an optional element last one that comes anyway, since there is no other
  /// way to ask for an optional element.
  ///
  /// That one is a required element. If nothing is required, up to three elements stand in for one another; of more, one
  /// stands in for all others. Beyond `mostCombinations` no further element has substitutes.
  public let substitutes: [[ElementReference]]
  /// Whether the substitutes admit every document that has what is required, and at least one element.
  public let coversOptional: Bool

  private static func substitutes(
    _ requests: [ElementRequest], _ choices: [[ElementReference]], of docType: String
  ) -> (substitutes: [[ElementReference]], coversOptional: Bool) {
    let definition = DocTypeCatalogue.definition(of: docType)
    // How little an element is suited to stand in for another: it should be small, known by one name only, and in every
    // document.
    let unfitness = requests.indices.map { index in
      let element = requests[index].element
      return (element.identifier == "portrait" ? 16 : 0) + (choices[index].count > 1 ? 4 : 0)
        + (AgeAttestations.age(of: element.identifier) != nil ? 2 : 0)
        + (definition?.element(element)?.isMandatory == true ? 0 : 1)
    }
    /// The best one, if it can be with this IntentToRetain, which a wallet applies to what it returns in place of another.
    func best(of indices: [Int], kept intent: Bool?) -> [Int] {
      func cost(_ index: Int) -> Int {
        unfitness[index] + (intent ?? requests[index].intentToRetain != requests[index].intentToRetain ? 8 : 0)
      }
      return indices.min { cost($0) < cost($1) }.map { [$0] } ?? []
    }
    let required = requests.indices.filter { requests[$0].isRequired }
    let isMutual = required.isEmpty && requests.count <= 3
    let pivot = best(of: Array(requests.indices), kept: nil)
    func standIns(for index: Int) -> [Int] {
      guard required.isEmpty else { return best(of: required, kept: requests[index].intentToRetain) }
      return (isMutual ? Array(requests.indices) : pivot).filter { $0 != index }
    }
    var combinations = 1
    var coversOptional = !required.isEmpty || isMutual
    let substitutes = requests.indices.map { index -> [ElementReference] in
      let own = choices[index].dropFirst()
      let others = requests[index].isRequired ? [] : standIns(for: index).flatMap { choices[$0] }
      let room = mostCombinations / combinations - 1
      let possible = [Array(own) + others, others].map(\.unique).first { $0.count <= room } ?? []
      let found = possible.filter { $0 != requests[index].element }
      if found.isEmpty, !others.isEmpty { coversOptional = false }
      combinations *= 1 + found.count
      return found
    }
    return (substitutes, coversOptional)
  }
}

extension [ElementReference] {
  /// Each element once, where it is first.
  fileprivate var unique: [ElementReference] {
    var known = Set<ElementReference>()
    return filter { known.insert($0).inserted }
  }
}
