import type { FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { PLAIN, type Behaviour, type ResourceType, type Subresource } from '#sandbox/api-server/resource-type.ts';
import type { FieldReaders } from '#sandbox/api-server/selectors/field-query.ts';
import { compileSchema, type JsonSchema } from '#sandbox/api-server/schema/compile-schema.ts';
import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';
import type { ObjectSchema } from '#sandbox/api-server/schema/schema.ts';
import { type Cell, type Column, AGE_COLUMN, timeAge, NAME_COLUMN } from '#sandbox/api-server/table/column.ts';
import {
  fieldsAt,
  isFields,
  listAt,
  numberAt,
  scalarText,
  textAt,
  textsAt,
  type Fields,
  type KubeObject,
  copyOf,
} from '#sandbox/api-server/wire/object.ts';
import { compileRules } from './cel-rules.ts';
import { compileSchemaCheck } from './json-schema-check.ts';

const OBJECT_META = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';

/** The kinds of a CustomResourceDefinition: one for each served version. */
export function customTypes(definition: KubeObject, definitions: Definitions): ResourceType[] {
  const spec = fieldsAt(definition, 'spec');
  const served = listAt(spec, 'versions').filter((version) => version['served'] === true);
  return served.map((version) => customType(spec, version, definitions));
}

function customType(spec: Fields, version: Fields, definitions: Definitions): ResourceType {
  const names = fieldsAt(spec, 'names');
  const group = textAt(spec, 'group');
  const kind = textAt(names, 'kind');
  const plural = textAt(names, 'plural');
  const apiVersion = `${group}/${textAt(version, 'name')}`;
  const schema = fieldsAt(fieldsAt(version, 'schema'), 'openAPIV3Schema');
  return {
    group,
    version: textAt(version, 'name'),
    apiVersion,
    kind,
    plural,
    singular: textAt(names, 'singular'),
    shortNames: textsAt(names, 'shortNames'),
    categories: textsAt(names, 'categories'),
    namespaced: textAt(spec, 'scope') === 'Namespaced',
    subresources: subresourcesOf(version, kind, group),
    schema: typedSchema(schema, definitions),
    definition: '',
    openApi: publishedSchema(schema, { group, version: textAt(version, 'name'), kind }),
    storage: `${plural}.${group}`,
    // Versions differ in their name only: conversion strategy None.
    view: { apiVersion, convert: (object) => (object.apiVersion === apiVersion ? object : { ...object, apiVersion }) },
    toStorage: undefined,
    behaviour: behaviourOf(version, schema),
    columns: columnsOf(version),
    fieldReaders: fieldReadersOf(version),
  };
}

function subresourcesOf(version: Fields, kind: string, group: string): Subresource[] {
  const hasStatus = isFields(fieldsAt(version, 'subresources')['status']);
  return hasStatus
    ? [{ name: 'status', kind, group, version: textAt(version, 'name'), verbs: ['get', 'patch', 'update'] }]
    : [];
}

/** The definition's schema with Kubernetes' own metadata, which definitions only sketch. */
function typedSchema(schema: Fields, definitions: Definitions): ObjectSchema {
  const compiled = compileSchema(schema, { name: '', resolve: definitions.schema });
  const own = compiled.kind === 'object' ? compiled.fields : new Map<string, never>();
  const text = { kind: 'scalar', type: 'string' } as const;
  return {
    kind: 'object',
    name: '',
    fields: new Map([...own, ['apiVersion', text], ['kind', text], ['metadata', definitions.schema(OBJECT_META)]]),
    required: new Set(),
    isAtomic: false,
    keepsUnknown: compiled.kind !== 'object' || compiled.keepsUnknown,
    patchStrategy: '',
  };
}

function publishedSchema(schema: Fields, kind: object): JsonSchema {
  const properties = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    ...fieldsAt(schema, 'properties'),
    metadata: { $ref: OBJECT_META },
  };
  return { ...schema, properties, 'x-kubernetes-group-version-kind': [kind] } as JsonSchema;
}

function behaviourOf(version: Fields, schema: Fields): Behaviour {
  const check = compileSchemaCheck(schema);
  const rules = compileRules(schema);
  const validate = (next: KubeObject, previous?: KubeObject): FieldError[] => {
    const errors = check(next);
    return errors.length > 0 || rules === undefined ? errors : rules(next, previous, '');
  };
  return {
    ...PLAIN,
    hasGeneration: true,
    hasStatus: isFields(fieldsAt(version, 'subresources')['status']),
    setDefaults: (object) => fillDefaults(schema, object),
    validate: (object) => validate(object),
    validateUpdate: validate,
  };
}

function columnsOf(version: Fields): Column[] {
  const columns = listAt(version, 'additionalPrinterColumns');
  if (columns.length === 0) return [NAME_COLUMN, AGE_COLUMN];
  return [NAME_COLUMN, ...columns.map(columnOf)];
}

function columnOf(column: Fields): Column {
  const type = textAt(column, 'type') as Column['type'];
  const read = compilePath(textAt(column, 'jsonPath'));
  return {
    name: textAt(column, 'name'),
    type,
    format: '',
    priority: numberAt(column, 'priority') ?? 0,
    description: textAt(column, 'description') || textAt(column, 'name'),
    read: (object, now) => cellOf(type, read?.(object), now),
  };
}

function cellOf(type: string, value: unknown, now: number): Cell {
  if (value === undefined || value === null) return null;
  if (type === 'date') return typeof value === 'string' ? timeAge(value, now) : null;
  if (typeof value === 'object') return JSON.stringify(value);
  return type === 'string' ? scalarText(value) : (value as Cell);
}

function fieldReadersOf(version: Fields): FieldReaders {
  const entries = listAt(version, 'selectableFields').map((field): [string, (object: KubeObject) => string] => {
    const path = textAt(field, 'jsonPath');
    const read = compilePath(path);
    return [path.replace(/^\./, ''), (object) => scalarText(read?.(object))];
  });
  return Object.fromEntries(entries);
}

/**
 * Fills in the schema's defaults for missing values, in place, from the outside in. Forbidden nulls count as missing.
 */
export function fillDefaults(schema: Fields, value: unknown): void {
  if (Array.isArray(value)) {
    if (isFields(schema['items'])) for (const item of value) fillDefaults(schema['items'], item);
    return;
  }
  if (!isFields(value)) return;
  fillProperties(fieldsAt(schema, 'properties'), value);
  const values = schema['additionalProperties'];
  if (isFields(values)) for (const item of Object.values(value)) fillDefaults(values, item);
}

function fillProperties(properties: Fields, value: Fields): void {
  for (const [name, property] of Object.entries(properties)) {
    if (!isFields(property)) continue;
    const isGap = value[name] === undefined || (value[name] === null && property['nullable'] !== true);
    if (isGap && property['default'] !== undefined) value[name] = copyOf(property['default']);
    if (value[name] !== undefined) fillDefaults(property, value[name]);
  }
}

/** Reads the value of a printer column's path. */
export type PathReader = (value: unknown) => unknown;

/**
 * Compiles the simple JSONPath of printer columns: `.spec.x`, `.list[0].y`, `.metadata.labels.a\.b`,
 * `.conditions[?(@.type=="Ready")].status`. Undefined for a path it does not read.
 */
export function compilePath(path: string): PathReader | undefined {
  const steps = parseSteps(path.startsWith('.') || path.startsWith('[') ? path : `.${path}`);
  if (steps === undefined) return undefined;
  return (value) => steps.reduce((place, step) => step(place), value);
}

const STEP = /^(?:\.((?:[^.[\]\\]|\\.)+)|\['([^']+)'\]|\[(\d+)\]|\[\?\(@\.([\w-]+)\s*==\s*["']([^"']*)["']\)\])/;

function parseSteps(path: string): PathReader[] | undefined {
  const steps: PathReader[] = [];
  let rest = path;
  while (rest !== '' && rest !== '.') {
    const match = STEP.exec(rest);
    if (match === null) return undefined;
    steps.push(stepOf(match));
    rest = rest.slice(match[0].length);
  }
  return steps;
}

function stepOf([, dotted, quoted, index, field, wanted]: RegExpExecArray): PathReader {
  const name = dotted?.replaceAll(/\\(.)/g, '$1') ?? quoted;
  if (name !== undefined) return (value) => (isFields(value) ? value[name] : undefined);
  if (index !== undefined) return (value) => (Array.isArray(value) ? (value[Number(index)] as unknown) : undefined);
  return (value) =>
    (Array.isArray(value)
      ? value.find((item) => isFields(item) && item[field ?? ''] === wanted)
      : undefined) as unknown;
}
