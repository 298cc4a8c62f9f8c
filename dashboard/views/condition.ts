import { type Fields, textOf } from '#shared/api/fields.ts';

/** One condition of an object. */
export interface ConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Whether it says that something is wrong, which for some types is True and for others False. */
  readonly isTrouble: boolean;
}

const LONGEST_NAME = 316;
const LONGEST_TEXT = 2_048;

/** One condition of a status; `undefined` without a type. Types in `troubles` say that something is wrong while they are True. */
export function conditionOf(condition: Fields, troubles: readonly string[]): ConditionView | undefined {
  const type = textOf(condition['type'], LONGEST_NAME);
  if (type === undefined) return undefined;
  const status = textOf(condition['status'], LONGEST_NAME) ?? '';
  return {
    type,
    status,
    reason: textOf(condition['reason'], LONGEST_TEXT) ?? '',
    message: textOf(condition['message'], LONGEST_TEXT) ?? '',
    isTrouble: status === (troubles.includes(type) ? 'True' : 'False'),
  };
}
