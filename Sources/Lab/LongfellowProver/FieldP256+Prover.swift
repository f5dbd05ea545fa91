import Longfellow

extension FieldP256: ProverField {
  typealias Extension = FourierExtension

  static var inputsOutsideSubfield: Int? { nil }
  var subfieldBytes: [UInt8]? { bytes }

  static func random(_ source: inout ProverRandomness) -> Self {
    while true {
      if let element = Self(source.bytes(byteCount)) { return element }
    }
  }

  static func randomInSubfield(_ source: inout ProverRandomness) -> Self { random(&source) }

  static func add(to sum: UnsafeMutablePointer<Self>, _ factor: Self, times row: UnsafePointer<Self>, count: Int) {
    for index in 0..<count { sum[index] = sum[index] + factor * row[index] }
  }

  static func addProducts(
    to sum: UnsafeMutablePointer<Self>, _ a: UnsafePointer<Self>, _ b: UnsafePointer<Self>, count: Int
  ) {
    for index in 0..<count { sum[index] = sum[index] + a[index] * b[index] }
  }

  static func fold(_ values: UnsafeMutablePointer<Self>, pairs: Int, _ challenge: Self) {
    for index in 0..<pairs {
      let low = values[2 * index]
      values[index] = low + challenge * (values[2 * index + 1] - low)
    }
  }

  static func roundSums(
    _ sums: UnsafePointer<Self>, _ wires: UnsafePointer<Self>, pairs: Int
  ) -> (constant: Self, square: Self) {
    var (constant, square) = (zero, zero)
    for index in 0..<pairs {
      let (sum, wire) = (sums[2 * index], wires[2 * index])
      constant = constant + sum * wire
      square = square + (sums[2 * index + 1] - sum) * (wires[2 * index + 1] - wire)
    }
    return (constant, square)
  }

  static func evaluate(
    _ layer: CircuitLayer, constants: [Self], one: Int, wires: UnsafePointer<Self>,
    outputs: UnsafeMutablePointer<Self>
  ) -> Bool {
    var holds = true
    forEachTerm(layer) { group, terms in
      let product = wires[Int(layer.groups[group].left)] * wires[Int(layer.groups[group].right)]
      for term in terms {
        let (output, constant) = (Int(layer.entries[term].output), Int(layer.entries[term].constant))
        if constant == one {
          outputs[output] = outputs[output] + product
        } else if constants[constant] == zero {
          if product != zero { holds = false }
        } else {
          outputs[output] = outputs[output] + constants[constant] * product
        }
      }
    }
    return holds
  }

  static func bindOutputs(
    _ layer: CircuitLayer, constants: [Self], one: Int, outputs: UnsafePointer<Self>, wires: UnsafePointer<Self>,
    terms: UnsafeMutablePointer<BoundTerm<Self>>, sums: UnsafeMutablePointer<Self>
  ) {
    forEachTerm(layer) { group, range in
      var value = zero
      for term in range {
        let (output, constant) = (outputs[Int(layer.entries[term].output)], Int(layer.entries[term].constant))
        value = value + (constant == one ? output : constants[constant] * output)
      }
      let (left, right) = (UInt32(layer.groups[group].left), UInt32(layer.groups[group].right))
      terms[group] = BoundTerm(left: left, right: right, value: value)
      sums[Int(left)] = sums[Int(left)] + value * wires[Int(right)]
    }
  }

  @inline(__always) private static func forEachTerm(_ layer: CircuitLayer, _ body: (Int, Range<Int>) -> Void) {
    var start = 0
    for group in layer.groups.indices {
      let end = Int(layer.groups[group].end)
      body(group, start..<end)
      start = end
    }
  }

  static func fold(
    _ hand: Hand, _ terms: UnsafeMutablePointer<BoundTerm<Self>>, count: Int, _ challenge: Self,
    wires: UnsafePointer<Self>, sums: UnsafeMutablePointer<Self>
  ) -> Int {
    let isLeft = hand == .left
    var (kept, index) = (0, 0)
    while index < count {
      let term = terms[index]
      let (own, other) = isLeft ? (term.left, term.right) : (term.right, term.left)
      index += 1
      // If present, the odd wire's term is the next term.
      var difference = term.value
      if own & 1 == 0 {
        difference = zero - difference
        if index < count {
          let next = terms[index]
          let (nextOwn, nextOther) = isLeft ? (next.left, next.right) : (next.right, next.left)
          if nextOwn == own + 1, nextOther == other {
            difference = next.value + difference
            index += 1
          }
        }
      }
      let product = difference * challenge
      let value = own & 1 == 0 ? term.value + product : product
      let half = own >> 1
      terms[kept] = BoundTerm(left: isLeft ? half : other, right: isLeft ? other : half, value: value)
      kept += 1
      sums[Int(other)] = sums[Int(other)] + value * wires[Int(half)]
    }
    return kept
  }
}
