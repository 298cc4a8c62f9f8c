/** The admission webhook: decides whether a pod may have its priority, and charges it to the quotas that count it. */
import { readFileSync } from 'node:fs';
import { describeSettings, loadConfiguration } from '#shared/runtime/configuration.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { webhookSchema } from './configuration.ts';
import { startWebhook } from './webhook.ts';

await runProgram({ component: 'webhook', kind: 'WebhookConfiguration', schema: webhookSchema, start: startWebhook });
