import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type VictimRules, chooseVictims } from '#shared/domain/eviction/choose-victims.ts';
import { criticalProtection } from '#shared/domain/eviction/protection.ts';
import { candidate, names, pod, usage } from '#test/shared/domain/ranking/builders.ts';

const protectionOf: VictimRules['protectionOf'] = ({ facts }) => criticalProtection(facts.pod);
const RANKED = [
  candidate(pod('a'), usage({ memoryBytes: 10 })),
  candidate(pod('critical', { priority: 2_000_000_000 }), usage({ memoryBytes: 50 })),
  candidate(pod('b'), undefined),
  candidate(pod('c'), usage({ memoryBytes: 30 })),
];

function chosen(rules: Partial<VictimRules>): readonly string[] {
  return names(chooseVictims(RANKED, { protectionOf, most: 10, gap: Infinity, ...rules }).victims);
}

describe('chooseVictims', () => {
  test('takes as many as the gap asks for, passing over the protected', () => {
    expect(chosen({ gap: 5 })).toEqual(['a']);
    expect(chosen({ gap: 11 })).toEqual(['a', 'b', 'c']);
  });

  test('takes no more than allowed; 0 means none', () => {
    expect([chosen({ most: 2 }), chosen({ most: 0 })]).toEqual([['a', 'b'], []]);
  });

  test('takes no pod where nothing is missing', () => {
    expect(chosen({ gap: 0 })).toEqual([]);
  });

  test('says who was passed over and why, and what comes free', () => {
    const { ineligible, freed } = chooseVictims(RANKED, { protectionOf, most: 10, gap: Infinity });
    expect(ineligible.map(({ candidate: each, because }) => [each.facts.pod.name, because.code])).toEqual([
      ['critical', 'ProtectedPriority'],
    ]);
    expect(freed).toBe(40);
  });

  test('never a protected one, never more than allowed, and none after the gap is closed', () => {
    const crowd = fc.array(fc.record({ bytes: fc.nat(100), isCritical: fc.boolean() }), { maxLength: 20 });
    fc.assert(
      fc.property(crowd, fc.nat(5), fc.nat(300), (people, most, gap) => {
        const ranked = people.map(({ bytes, isCritical }, index) =>
          candidate(pod(`p${index}`, { priority: isCritical ? 2_000_000_000 : 0 }), usage({ memoryBytes: bytes })),
        );
        const { victims, freed } = chooseVictims(ranked, { protectionOf, most, gap });
        const beforeLast = freed - (victims.at(-1)?.usage ?? 0);
        expect(victims.some((each) => protectionOf(each, [], []) !== undefined)).toBe(false);
        expect(victims.length).toBeLessThanOrEqual(most);
        if (victims.length > 0) expect(beforeLast).toBeLessThan(gap);
      }),
    );
  });
});
