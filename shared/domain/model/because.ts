/** Why a decision was taken: `code` from a typed table, `text` a sentence for people, `facts` the numbers it was decided on. */
export interface Because {
  readonly code: string;
  readonly text: string;
  readonly facts: Readonly<Record<string, string | number | boolean>>;
}
