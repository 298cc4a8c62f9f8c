import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { Artifact } from '#tools/generate/artifact.ts';
import { type ChartOption, chartTemplates } from './chart/chart-templates.ts';
import { buildFolder } from './kustomize/build-folder.ts';

/** What is written by hand: values with their schema, notes, checks, and the templates without a manifest. */
export const CHART_SOURCES = 'deploy/charts/plimsoll/';
const WRITTEN = `${CHART_SOURCES}{*.{yaml,json,md},ci/*.yaml,templates/**/*.{yaml,tpl,txt}}`;
const HEADING = `{{- /* Made from deploy/base, its overlays and its components by: npm run manifests */}}
`;

/** The condition under which the chart renders an overlay's changes to deploy/base. */
export const OVERLAY_CONDITIONS: Readonly<Record<string, string>> = {
  'overlays/cert-manager': '.Values.certManager.enabled',
  'overlays/rules-only': '.Values.rulesOnly.enabled',
  'overlays/admission-in-process': 'eq (include "plimsoll.admission" .) "InProcess"',
  'overlays/enforce': 'eq .Values.agent.mode "Enforce"',
  'overlays/second-scheduler': '.Values.scheduler.enabled',
  'overlays/control-plane-extender': '.Values.controlPlaneExtender.enabled',
  'overlays/node-controller': '.Values.nodeController.enabled',
  'overlays/without-agent': 'not .Values.agent.enabled',
  'overlays/dashboard': '.Values.dashboard.enabled',
  'overlays/disruption-record': '.Values.disruptions.enabled',
  'overlays/queues': '.Values.queues.enabled',
  'overlays/rescheduling': '.Values.rescheduling.enabled',
};

/** The same for components that add objects; overlays may change these objects as those of deploy/base. */
export const COMPONENT_CONDITIONS: Readonly<Record<string, string>> = {
  'components/controller': 'include "plimsoll.controller" .',
  'components/api-server-defaults': 'ne (include "plimsoll.admission" .) "Webhook"',
  'components/network-policies': '.Values.networkPolicies.enabled',
  'components/flow-schema': '.Values.flowSchema.enabled',
  'components/pod-monitors': '.Values.podMonitors.enabled',
};

/** The files of the Helm chart, by their paths in it. */
export function chartArtifacts(): readonly Artifact[] {
  const read: Parameters<typeof buildFolder>[1] = new Map();
  const build = (folder: string): ReturnType<typeof buildFolder> => buildFolder(join('deploy', folder), read);
  const options = [...optionsOf(OVERLAY_CONDITIONS, build, false), ...optionsOf(COMPONENT_CONDITIONS, build, true)];
  const templates = chartTemplates(build('base'), options);
  return [
    ...globSync(WRITTEN).map((path) => copied(path, path.slice(CHART_SOURCES.length))),
    ...Array.from(templates, ([name, text]) => ({ path: `templates/${name}`, text: HEADING + text })),
    copied('deploy/alerts/plimsoll.yaml', 'files/alerts.yaml'),
    ...globSync('deploy/dashboards/*.json').map((path) => copied(path, join('files/dashboards', basename(path)))),
  ].toSorted((a, b) => compareTexts(a.path, b.path));
}

function copied(from: string, path: string): Artifact {
  return { path, text: readFileSync(from, 'utf8') };
}

function optionsOf(
  conditions: Readonly<Record<string, string>>,
  build: (folder: string) => ReturnType<typeof buildFolder>,
  isComponent: boolean,
): readonly ChartOption[] {
  return Object.entries(conditions).map(([folder, when]) => ({ when, isComponent, objects: build(folder) }));
}
