/** `2026-01-31T12:00:00Z`: a time as `meta/v1` Time spells it. */
export function timeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** `2026-01-31T12:00:00.000000Z`: a time as `meta/v1` MicroTime spells it. */
export function microTimeText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 23)}000Z`;
}
