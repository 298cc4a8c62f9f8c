import { expect } from 'vitest';
import { shippedMemoryMiB } from '#test/webhook/support/shipped-webhook.ts';
import { peakMiBOf } from '#test/webhook/support/process-figures.ts';
import type { HonestResult } from './honest-users.ts';
import type { Stage } from './stage.ts';

/** Of the container's memory: the rest is what the kernel holds for the container's connections. */
const MEMORY_SHARE = 0.9;
const CREATED_SHARE = 0.95;

/** Expects that the webhook is alive and within its memory limit. */
export function expectWebhookUnharmed({ webhook }: Stage): void {
  const { component } = webhook();
  expect(component.hasEnded()).toBe(false);
  expect(peakMiBOf(component.pid() ?? 0)).toBeLessThan(shippedMemoryMiB() * MEMORY_SHARE);
}

/**
 * Expects that honest users of another namespace were served throughout; `npm run bench -- adversary` measures how
 * fast.
 */
export function expectHonestServed({ asked, created, refusals }: HonestResult): void {
  expect(asked).toBeGreaterThan(0);
  expect(created / asked, JSON.stringify(refusals)).toBeGreaterThanOrEqual(CREATED_SHARE);
}
