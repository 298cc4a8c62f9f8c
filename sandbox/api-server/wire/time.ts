/** `2026-01-31T12:00:00Z`: a time as `meta/v1` Time spells it. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
