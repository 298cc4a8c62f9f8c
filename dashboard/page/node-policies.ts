/** NodePressurePolicies: the nodes that each applies to, its settings, and nodes whose agent reports something else. */
import { html, nothing, type TemplateResult } from 'lit-html';
import type { NodePolicyView, PolicyThresholdView } from '#dashboard/views/node-policies.ts';
import type { Context, Page, Shown } from './context.ts';
import { badge, type Column, empty, modeText, nodeLink, panel, type Row, tableSection, troubleList } from './parts.ts';

const THRESHOLDS: readonly Column[] = [
  ['', 'Signal'],
  ['', 'Kind'],
  ['number', 'Least'],
  ['number', 'Grace period'],
  ['', 'Mode'],
  ['', 'State'],
];
const DIFFERENCES: readonly Column[] = [
  ['', 'Field'],
  ['', 'Value'],
  ['', 'Default'],
];
const DEVIATIONS: readonly Column[] = [
  ['', 'Node'],
  ['', 'Reported policy'],
  ['', 'Reported mode'],
];

export function nodePoliciesPage(): Page {
  return { title: 'Node pressure policies', render: policiesView };
}

function policiesView({ nodePolicies }: Context): Shown {
  const none = panel('Node pressure policies', empty('No policy and no node was read yet.'));
  return html`<div class="stack">${nodePolicies.length === 0 ? none : nodePolicies.map(policyPanel)}</div>`;
}

function policyPanel(policy: NodePolicyView): TemplateResult {
  const { name, order, nodeSelector, mode, problem, thresholds, differs, conditions, deviating } = policy;
  const title = name === '' ? 'Nodes without a policy' : name;
  const of = name === '' ? 'the defaults' : name;
  return panel(
    title,
    html`<div class="badges">
        ${mode === '' ? nothing : badge(modeText(mode))} ${name === '' ? nothing : badge(`order ${order}`)}
      </div>
      <p>${selected(name, nodeSelector)} ${governed(policy)}</p>`,
    problem === ''
      ? nothing
      : html`<p class="problem">This policy cannot be read, so no pod is removed: ${problem}</p>`,
    troubleList(conditions),
    tableSection('Thresholds', THRESHOLDS, thresholds.map(thresholdRow), `Thresholds of ${of}`),
    tableSection(
      'Changed from the defaults',
      DIFFERENCES,
      differs.map(differenceRow),
      `Settings of ${of} that differ from the defaults`,
    ),
    tableSection(
      'Agents that report something else',
      DEVIATIONS,
      deviating.map(deviationRow),
      `Agents that report something else than ${of}`,
    ),
  );
}

function selected(name: string, nodeSelector: string): Shown {
  if (name === '') return 'Every node that no policy selects.';
  return nodeSelector === '' ? 'Selects every node.' : html`Selects <span class="pod">${nodeSelector}</span>.`;
}

function governed({ name, governs, nodes }: NodePolicyView): Shown {
  if (governs === 0) return 'It applies to no node: none is selected, or another policy comes first.';
  const more = governs - nodes.length;
  const all = `#/nodes?policy=${encodeURIComponent(name === '' ? 'default' : name)}`;
  const links = nodes.map((node, index) => html`${index === 0 ? '' : ', '}${nodeLink(node)}`);
  return html`Applies to <a href=${all}>${governs === 1 ? '1 node' : `${governs} nodes`}</a>:
    ${links}${more > 0 ? ` and ${more} more` : ''}.`;
}

function thresholdRow(threshold: PolicyThresholdView): Row {
  const { signal, kind, least, gracePeriodSeconds, mode, state, heldBy } = threshold;
  const held =
    heldBy.length === 0 ? state : html`<div>${state} by ${heldBy.map((node) => html`${nodeLink(node)} `)}</div>`;
  return [
    ['pod', signal],
    ['', kind],
    ['number', least],
    ['number', gracePeriodSeconds === 0 ? undefined : `${gracePeriodSeconds} s`],
    ['', modeText(mode)],
    ['', held || undefined],
  ];
}

function differenceRow({ field, value, usual }: NodePolicyView['differs'][number]): Row {
  return [
    ['pod', field],
    ['', value || 'not set'],
    ['quiet', usual || 'not set'],
  ];
}

function deviationRow({ node, policy, mode }: NodePolicyView['deviating'][number]): Row {
  return [
    ['', nodeLink(node)],
    ['', policy || undefined],
    ['', modeText(mode)],
  ];
}
