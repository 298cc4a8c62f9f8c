export type PlainMap = Readonly<Record<string, unknown>>;

/** A Kubernetes object as deploy/ has it. */
export interface Manifest extends PlainMap {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: PlainMap };
}
