import { afterAll, beforeAll, describe } from 'vitest';
import { contractHarness } from '#test/contract/harness.ts';
import { noWayRound } from './no-way-round.ts';
import { startSandboxWebhook, type SandboxWebhook } from './sandbox-webhook.ts';
import { untilEnforced } from './until-enforced.ts';

describe('a class that a user may not use, in the sandbox, after the webhook has stopped', () => {
  let webhook: SandboxWebhook;
  beforeAll(async () => {
    webhook = await startSandboxWebhook();
  });
  afterAll(() => webhook.stop());
  const target = (): SandboxWebhook['target'] => webhook.target;
  const api = contractHarness(target);

  noWayRound(target, async () => {
    await untilEnforced(api);
    await webhook.stopWebhook();
  });
});
