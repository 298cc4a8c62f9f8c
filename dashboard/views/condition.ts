import { type Fields, textOf } from '#shared/api/fields.ts';

/** One condition of an object. */
export interface ConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Whether the condition reports a problem, which for some types is True and for others False. */
  readonly isTrouble: boolean;
}

const MAX_NAME_LENGTH = 316;
const MAX_TEXT_LENGTH = 2_048;

/** One condition of a status; `undefined` without a type. Types in `troubles` report a problem while they are True. */
export function conditionOf(condition: Fields, troubles: readonly string[]): ConditionView | undefined {
  const type = textOf(condition['type'], MAX_NAME_LENGTH);
  if (type === undefined) return undefined;
  const status = textOf(condition['status'], MAX_NAME_LENGTH) ?? '';
  return {
    type,
    status,
    reason: textOf(condition['reason'], MAX_TEXT_LENGTH) ?? '',
    message: textOf(condition['message'], MAX_TEXT_LENGTH) ?? '',
    isTrouble: status === (troubles.includes(type) ? 'True' : 'False'),
  };
}
