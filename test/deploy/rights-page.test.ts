import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ACCOUNTS, ALL_ACCOUNTS, type OwnAccount } from '#shared/kube/accounts/accounts.ts';

const PAGE = readFileSync('docs/reference/rights.md', 'utf8');
const SECTIONS = PAGE.split(/^## /m);
/** Marks the rows of the section above that also hold for the extender alone. */
const EXTENDER = '(`plimsoll-extender`)';
/** What that account creates itself, as its section says in words. */
const OWN_LEASE = '| leases: create | elects |';

function rowsOf({ name, namespace }: OwnAccount): readonly string[] {
  const section = SECTIONS.find((text) => text.split('\n', 1)[0]?.includes(`(\`${name}\` in \`${namespace}\``)) ?? '';
  const own = section.split('\n').filter((line) => line.startsWith('| '));
  if (name !== ACCOUNTS.controlPlaneExtender.name) return own;
  return [...PAGE.split('\n').filter((line) => line.includes(EXTENDER)), OWN_LEASE];
}

/** `verb resource` of a row such as `| pods, nodes: get, list; pods/status: patch, only \`x\` | why |`. */
function stated(row: string): readonly string[] {
  let resources: readonly string[] = [];
  return (row.split(' | ', 1)[0] ?? '')
    .slice(2)
    .split(';')
    .flatMap((part) => {
      const [left = '', right] = part.replaceAll(/ \([^)]*\)| in `[^`]*`|, only .*$/g, '').split(': ');
      if (right !== undefined) resources = left.split(',').map((each) => each.trim());
      const verbs = (right ?? left).split(',').map((each) => each.trim());
      return verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`));
    });
}

test.each(ALL_ACCOUNTS.map((account) => [account.name, account] as const))(
  'docs/reference/rights.md has every right of %s, and no other',
  (_, account) => {
    const given = account.rights.flatMap(({ resources, verbs }) =>
      verbs.flatMap((verb) => resources.map((resource) => `${verb} ${resource}`)),
    );
    expect([...new Set(rowsOf(account).flatMap(stated))].sort()).toEqual([...new Set<string>(given)].sort());
  },
);
