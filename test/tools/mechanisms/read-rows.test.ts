import { describe, expect, test } from 'vitest';
import { readCases, readRows, readThreats } from '#tools/mechanisms/read-rows.ts';

const ALL = Object.entries({ S0: 32, S1: 33, S2: 38, S3: 49, S4: 15 }).flatMap(([source, count]) =>
  Array.from({ length: count }, (_, index) => `${source}-${index + 1}`),
);

function table(proofs: Readonly<Record<string, string>> = {}, ids: readonly string[] = ALL): string {
  return ids.map((id) => `| ${id} | what must be true | webhook | ${proofs[id] ?? 'open'} |`).join('\n');
}

describe('readRows', () => {
  test('reads the proofs of each row', () => {
    const { rows, faults } = readRows(table({ 'S1-2': '`test/a.test.ts` › a > b; `test/b.test.ts` › c, with %s' }));
    expect([rows.length, faults]).toEqual([167, []]);
    expect(rows.filter(({ proofs }) => proofs.length > 0)).toEqual([
      {
        id: 'S1-2',
        proofs: [
          { file: 'test/a.test.ts', title: 'a > b' },
          { file: 'test/b.test.ts', title: 'c, with %s' },
        ],
      },
    ]);
  });

  test('tells a row that is missing', () => {
    expect(readRows(table({}, ALL.slice(1))).faults).toEqual(['S0-1: has no row']);
  });

  test('tells a proof that names no file and title', () => {
    expect(readRows(table({ 'S4-15': 'it works' })).faults).toEqual(['S4-15: "it works" is not `file` › title']);
  });
});

describe('readThreats', () => {
  const row = (id: string, proof: string): string => `| ${id} | what somebody does | what stops it | ${proof} |`;

  test('reads the proofs of each threat, also of padded rows', () => {
    const { rows, faults } = readThreats([row('T-01', 'open'), row('T-02  ', '`test/a.test.ts` › a > b  ')].join('\n'));
    expect([rows.map(({ id, proofs }) => [id, proofs.length]), faults]).toEqual([
      [
        ['T-01', 0],
        ['T-02', 1],
      ],
      [],
    ]);
  });

  test.each([
    ['a threat twice', [row('T-01', 'open'), row('T-01', 'open')], 'T-01: has two rows'],
    ['no threat at all', ['nothing'], 'has no row'],
    ['a proof that names no file and title', [row('T-01', 'trust us')], 'T-01: "trust us" is not `file` › title'],
  ])('tells %s', (_, lines, fault) => {
    expect(readThreats(lines.join('\n')).faults).toEqual([fault]);
  });
});

describe('readCases', () => {
  test('reads the last column of each case, whatever the columns before it say of others', () => {
    const row = '| C-01 | page cache | evicts | counts it as available | – | stays | `test/a.test.ts` › a > b |';
    const { rows, faults } = readCases(row);
    expect([rows, faults]).toEqual([[{ id: 'C-01', proofs: [{ file: 'test/a.test.ts', title: 'a > b' }] }], []]);
    expect(readCases('| T-01 | a threat | no case | open |').faults).toEqual(['has no row']);
  });
});
