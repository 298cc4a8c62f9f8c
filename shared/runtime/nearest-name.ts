/** The name closest to `name`, or `undefined` when nothing is close enough to be meant. */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase();
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(wanted, candidate.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance || (a.candidate < b.candidate ? -1 : 1));
  const best = ranked[0];
  return best !== undefined && best.distance <= Math.max(2, name.length / 3) ? best.candidate : undefined;
}

/** Insertions, deletions and substitutions that turn one text into the other; long texts are cut at 64. */
function editDistance(left: string, right: string): number {
  const target = right.slice(0, 64);
  let row = Array.from({ length: target.length + 1 }, (_, index) => index);
  const source = left.slice(0, 64);
  for (let index = 0; index < source.length; index += 1) row = nextRow(row, index + 1, source.charAt(index), target);
  return row.at(-1) ?? 0;
}

function nextRow(previous: readonly number[], first: number, character: string, target: string): number[] {
  const row = [first];
  for (let column = 1; column <= target.length; column += 1) {
    const substituted = at(previous, column - 1) + (target[column - 1] === character ? 0 : 1);
    row.push(Math.min(substituted, at(previous, column) + 1, at(row, column - 1) + 1));
  }
  return row;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? 0;
}
