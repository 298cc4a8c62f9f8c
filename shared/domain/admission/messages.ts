import type { Message } from './decision.ts';
import { CLASS_MESSAGES, POLICY_MESSAGES, TEMPLATE_MESSAGES } from './messages/priority-messages.ts';
import { DISRUPTION_MESSAGES, REQUEST_MESSAGES } from './messages/request-messages.ts';
import { QUOTA_MESSAGES } from './messages/quota-messages.ts';

/**
 * Every sentence with which an admission request is answered, in the order in which a reader meets them. Status 403 is
 * the answer where a policy says `onViolation: Deny`; with `Warn`, and in mode DryRun, the same text is a warning.
 */
export const MESSAGES = {
  ...CLASS_MESSAGES,
  ...POLICY_MESSAGES,
  ...QUOTA_MESSAGES,
  ...TEMPLATE_MESSAGES,
  ...DISRUPTION_MESSAGES,
  ...REQUEST_MESSAGES,
} as const satisfies Record<string, Message<never>>;
