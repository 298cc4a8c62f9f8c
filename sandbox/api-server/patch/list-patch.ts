/** What a strategic merge patch says about one list. */
export interface ListPatch {
  readonly items: readonly unknown[];
  /** `$setElementOrder/NAME`: values, or objects that hold only the merge key. */
  readonly order: unknown;
  /** `$deleteFromPrimitiveList/NAME`. */
  readonly deleted: unknown;
}
