import { describe, expect, test } from 'vitest';
import { DEFAULT_NODE_SETTINGS, type NodeSettings } from '#shared/domain/nodes/node-settings.ts';
import { decodePolicy } from '#shared/api/node-pressure-policy/decode-policy.ts';
import { valueOf } from '#test/build/value-of.ts';

const decode = (spec: object) => decodePolicy({ metadata: { name: 'p' }, spec });

describe('what a NodePressurePolicy says about avoid lists, taints and spare room', () => {
  test.each<[spec: object, field: string, message: string]>([
    [{ avoidFor: '10 min' }, 'spec.avoidFor', 'unknown unit " min"'],
    [{ avoidFor: '-5m' }, 'spec.avoidFor', 'expected 0s to 24h, got "-5m"'],
    [{ avoidance: { longest: '25h' } }, 'spec.avoidance.longest', 'expected 0s to 24h, got "25h"'],
    [{ avoidance: { mode: 'Off' } }, 'spec.avoidance.mode', 'expected Disabled or DryRun or Enforce, got "Off"'],
    [{ avoidance: { loop: { rounds: 1 } } }, 'spec.avoidance.loop.rounds', ''],
    [{ taints: { families: ['Gpu'] } }, 'spec.taints.families[0]', 'got "Gpu"'],
    [{ taints: { unknownPeriod: 'never' } }, 'spec.taints.unknownPeriod', 'invalid duration'],
    [{ spare: { window: '59m' } }, 'spec.spare.window', 'expected 1h to 168h, got "59m"'],
    [{ spare: { window: '169h' } }, 'spec.spare.window', 'expected 0s to 168h, got "169h"'],
    [{ spare: { percentile: 49 } }, 'spec.spare.percentile', ''],
    [{ spare: { margin: '1Gi' } }, 'spec.spare.margin', 'expected a percentage from 0% to 100%, got "1Gi"'],
    [{ spare: { max: '101%' } }, 'spec.spare.max', 'expected a percentage from 0% to 100%, got "101%"'],
  ])('%j is refused with its field', (spec, field, message) => {
    const decoded = decode(spec);
    expect(decoded).toMatchObject({ ok: false, field });
    expect(decoded.ok ? '' : decoded.message).toContain(message);
  });

  test.each<[object, object]>([
    [{}, {}],
    [{ avoidance: {}, taints: {} }, {}],
    [{ avoidFor: '1h30m' }, { avoidance: { avoidForMs: 5_400_000 } }],
    [{ avoidFor: '0' }, { avoidance: { avoidForMs: 0 } }],
    [
      { avoidance: { mode: 'Enforce', longest: '2h', loop: { rounds: 5, window: '30m', action: 'Forbid' } } },
      {
        avoidance: {
          mode: 'Enforce',
          longestMs: 7_200_000,
          loop: { rounds: 5, windowMs: 1_800_000, isForbidding: true },
        },
      },
    ],
    [{ spare: {} }, { spare: { mode: 'DryRun' } }],
    [
      { mode: 'Enforce', spare: { mode: 'Enforce', window: '168h' } },
      { spare: { mode: 'Enforce', windowMs: 604_800_000 } },
    ],
    [{ taints: { mode: 'Disabled', families: [] } }, { taints: { mode: 'Disabled', families: [] } }],
    [
      { mode: 'Enforce', taints: { transitionPeriod: '0s', unknownPeriod: '1h' } },
      { taints: { mode: 'DryRun', transitionMs: 0, unknownMs: 3_600_000 } },
    ],
  ])('%j is what the node controller decides by, and the rest is the default', (spec, expected) => {
    expect(valueOf(decode(spec)).nodes).toMatchObject(expected);
    const { avoidance, taints, spare } = DEFAULT_NODE_SETTINGS;
    expect(valueOf(decode(spec)).nodes).toMatchObject({
      avoidance: { ...avoidance, ...(expected as Partial<NodeSettings>).avoidance },
      taints: { ...taints, ...(expected as Partial<NodeSettings>).taints },
      spare: { ...spare, ...(expected as Partial<NodeSettings>).spare },
    });
  });
});
