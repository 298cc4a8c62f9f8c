/** One operation of a JSON patch (RFC 6902), as far as we write them. */
export interface PatchOperation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}
