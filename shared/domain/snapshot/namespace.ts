/** A namespace, which decisions only select by its labels. */
export interface Namespace {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}
