import { describe, expect, test } from 'vitest';
import {
  DEFAULT_RECLAIM,
  RECLAIM_CHOICES,
  reclaimFaults,
  reclaimSettings,
} from '#shared/domain/queue/reclaim-settings.ts';

describe('what the queue root says about reclaim', () => {
  test.each([undefined, {}, { mode: undefined }])('%j means a dry run by guarantees', (written) => {
    expect(reclaimSettings(written)).toEqual({
      mode: 'DryRun',
      by: 'Guarantees',
      overuse: 'Keep',
      replacements: 'First',
    });
  });

  const every = Object.entries(RECLAIM_CHOICES).flatMap(([field, choices]) =>
    choices.map((choice) => [field, choice] as const),
  );
  test.each(every)('%s: %s is read, and the rest is as it was', (field, choice) => {
    expect(reclaimSettings({ [field]: choice })).toEqual({ ...DEFAULT_RECLAIM, [field]: choice });
    expect(reclaimFaults({ [field]: choice })).toEqual([]);
  });

  test.each([
    [{ mode: 'enforce' }, {}],
    [{ mode: 'Enforce', by: 'Weights' }, {}],
    [{ mode: 'Enforce', overuse: 'true', replacements: 'InTurn' }, { replacements: 'InTurn' }],
    [{ mode: 'Enforce', replacements: 'Last', overuse: 'Evict' }, { overuse: 'Evict' }],
    [{ mode: 'Disabled', by: 'Weights' }, { mode: 'Disabled' }],
  ])('%j evicts no pod, and the default stands for what cannot be read', (written, more) => {
    expect(reclaimSettings(written)).toEqual({ ...DEFAULT_RECLAIM, ...more });
    expect(reclaimFaults(written)).toHaveLength(1);
  });

  test('says which choices there are', () => {
    expect(reclaimFaults({ mode: 'Enforce', by: 'Weights' })).toEqual([
      'reclaim.by must be Guarantees or Shares; got "Weights", using Guarantees, and no pod is evicted',
    ]);
  });
});
