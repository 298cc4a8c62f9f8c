/** What the host tells the node in a guest: one line of JSON. */
export type Order =
  | { readonly stop: 'kubelet'; readonly start?: undefined }
  | {
      readonly stop?: undefined;
      readonly start: 'kubelet';
      /** Texts by file name, to be written before. */
      readonly dropIns: Readonly<Record<string, string>>;
    };

/** What it answers: once that it takes pods, then each order, or why it gave up. */
export interface Answer {
  readonly ready?: true;
  readonly done?: Order;
  readonly failed?: string;
}
