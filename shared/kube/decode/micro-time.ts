/** Wall time in milliseconds as a Kubernetes MicroTime, which has exactly six digits after the second. */
export function microTime(nowMs: number): string {
  return new Date(nowMs).toISOString().replace('Z', '000Z');
}
