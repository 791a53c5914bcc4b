import type { WriteObject } from 'riata/client';
import { ConfigMap, ResourceQuota } from 'riata/kinds';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { resolveOperator } from '../config/resolve-operator.js';
import { deployment } from '../manifests/deployment.js';
import { fullOptions, siteConfig, siteRules, sites } from '../manifests/site-operator.fixture.js';
import { chart } from './chart.js';
import { chartFiles } from './chart-files.js';
import { defaultChart } from './default-chart.js';
import { onlyIf } from './placeholder.js';

const config = siteConfig({ definitions: [sites, siteRules], options: fullOptions });

async function filesOf<V extends object>(
  values: z.ZodType<V>,
  objects: (v: V, context: { release: { name: string; namespace: string } }) => WriteObject[],
): Promise<Record<string, string>> {
  const files = await chartFiles(
    chart(config, { values: values as never, objects: objects as never }),
    await resolveOperator(config),
  );
  return Object.fromEntries(files.map(({ path, text }) => [path, text]));
}

/** A ConfigMap whose data is anything. */
const withData = (data: unknown, metadata: object = {}) =>
  ConfigMap({ metadata: { name: 'x', namespace: 'y', ...metadata }, data: data as never });

test('values of every type, in every place', async () => {
  const values = z.object({
    text: z.string().default('a').describe('A text.'),
    count: z.int().default(1_000_000),
    flag: z.boolean().default(false),
    list: z.array(z.string()).default([]),
    map: z.record(z.string(), z.string()).optional().describe('Absent by default.'),
    maybe: z.int().optional(),
    group: z.object({ name: z.string().default('g'), 'odd-name': z.string().default('o') }),
    mode: z.enum(['on', 'off']).default('on'),
    needed: z.string(),
    far: z.object({ deep: z.string().optional() }).optional(),
  });
  const files = await filesOf(values, (v, { release }) => [
    withData(
      {
        text: v.text,
        count: v.count,
        flag: v.flag,
        list: v.list,
        longer: ['first', ...v.list, 'last'],
        map: v.map,
        more: { ...v.map, own: 'x' },
        maybe: v.maybe,
        items: [v.text, { maybe: v.maybe, always: 1 }, { first: 1, second: [] }, [v.count]],
        onlyMaybe: { maybe: v.maybe },
        group: v.group,
        odd: v.group['odd-name'],
        deep: v.far?.deep,
        url: `https://${v.group.name}:${v.count}/100%?x={{ .y }}`,
        braces: '{{ $labels.pod }} "quoted"',
        words: ['on', 'true', '1', '', 'a: b', 'two\nlines', 'plain/text'],
        needed: v.needed,
        [`key-${v.text}`]: true,
      },
      { namespace: release.namespace, labels: { release: release.name } },
    ),
    ...onlyIf(v.flag, [ResourceQuota({ metadata: { name: 'q', namespace: release.namespace } })]),
  ]);
  expect(files['templates/config-map.yaml']).toMatchInlineSnapshot(`
    "apiVersion: v1
    kind: ConfigMap
    metadata:
      name: x
      namespace: {{ .Release.Namespace | quote }}
      labels:
        release: {{ .Release.Name | quote }}
    data:
      text: {{ .Values.text | quote }}
      count: {{ toJson .Values.count }}
      flag: {{ toJson .Values.flag }}
      {{- with .Values.list }}
      list:
        {{- toYaml . | nindent 4 }}
      {{- end }}
      longer:
      - first
      {{- with .Values.list }}
      {{- toYaml . | nindent 2 }}
      {{- end }}
      - last
      {{- with .Values.map }}
      map:
        {{- toYaml . | nindent 4 }}
      {{- end }}
      more:
        {{- with (omit (default dict .Values.map) "own") }}
        {{- toYaml . | nindent 4 }}
        {{- end }}
        own: x
      {{- if not (kindIs "invalid" .Values.maybe) }}
      maybe: {{ toJson .Values.maybe }}
      {{- end }}
      items:
      - {{ .Values.text | quote }}
      -
        {{- if not (kindIs "invalid" .Values.maybe) }}
        maybe: {{ toJson .Values.maybe }}
        {{- end }}
        always: 1
      - first: 1
        second: []
      -
        - {{ toJson .Values.count }}
      {{- if not (kindIs "invalid" .Values.maybe) }}
      onlyMaybe:
        {{- if not (kindIs "invalid" .Values.maybe) }}
        maybe: {{ toJson .Values.maybe }}
        {{- end }}
      {{- end }}
      {{- with .Values.group }}
      group:
        {{- toYaml . | nindent 4 }}
      {{- end }}
      odd: {{ (index .Values.group "odd-name") | quote }}
      {{- if not (kindIs "invalid" (.Values.far).deep) }}
      deep: {{ (.Values.far).deep | quote }}
      {{- end }}
      url: {{ printf "https://%v:%v/100%%?x={{ .y }}" .Values.group.name (toJson .Values.count) | quote }}
      braces: "{{ "{{" }} $labels.pod }} \\"quoted\\""
      words:
      - "on"
      - "true"
      - "1"
      - ""
      - "a: b"
      - "two\\nlines"
      - plain/text
      needed: {{ .Values.needed | quote }}
      {{ printf "key-%v" .Values.text | quote }}: true
    "
  `);
  expect(files['templates/resource-quota.yaml']).toMatchInlineSnapshot(`
    "{{- if .Values.flag }}
    apiVersion: v1
    kind: ResourceQuota
    metadata:
      name: q
      namespace: {{ .Release.Namespace | quote }}
    {{- end }}
    "
  `);
  expect(files['values.yaml']).toMatchInlineSnapshot(`
    "# A text.
    text: a

    count: 1000000

    flag: false

    list: []

    # Absent by default.
    # map: {}

    # maybe: 0

    group:
      name: g
      odd-name: o

    # One of "on", "off"
    mode: "on"

    # needed: "" # required

    # far: {}
    "
  `);
  expect(JSON.parse(files['values.schema.json'] as string).properties.count).toMatchObject({ default: 1_000_000 });
});

const simple = z.object({
  count: z.int().default(1),
  flag: z.boolean().default(false),
  text: z.string().default('a'),
  list: z.array(z.string()).default([]),
  map: z.record(z.string(), z.string()).default({}),
  mode: z.enum(['a', 'b']).default('a'),
  maybe: z.string().optional(),
});

test.each<[string, (v: z.output<typeof simple>) => unknown, RegExp]>([
  ['arithmetic', (v) => v.count + 1, /values\.count is only known when the chart is installed/],
  ['a comparison', (v) => v.count > 1, /values\.count .* cannot be computed with or compared/],
  [
    'a decision',
    (v) => (v.flag ? 'x' : 'y'),
    /with the default values, objects gives something else .*~ data\.x: "x" → "y"/,
  ],
  ['a decision by a choice', (v) => (v.mode === 'b' ? 'x' : 'y'), /if values\.mode is "b"/],
  ['a default in code', (v) => v.maybe ?? 'x', /with the default values.*\+ data: /],
  ['a list in a string', (v) => `${v.list}`, /values\.list is an array and cannot be part of a string/],
  ['an element', (v) => v.list[0], /values\.list .*; 0 of it cannot be read/],
  ['a method', (v) => v.list.map((x) => x), /map of it cannot be read/],
  ['a changed string', (v) => v.text.slice(2), /a placeholder was changed by code/],
  ['an optional value in a string', (v) => `x-${v.maybe}`, /values\.maybe may be absent; give it a default/],
  [
    'an unknown value',
    (v) => (v as never as { typo: string }).typo,
    /values\.typo is not in the schema of values; known are count/,
  ],
])('%s is refused, and the value named', async (_, use, message) => {
  await expect(filesOf(simple, (v) => [withData({ x: use(v) })])).rejects.toThrow(message);
});

test('an operator without a chart gets one with the usual values', async () => {
  const operator = await resolveOperator(config);
  const files = await chartFiles(await defaultChart(config, operator), operator);
  expect(files.map(({ path }) => path)).toMatchInlineSnapshot(`
    [
      "Chart.yaml",
      "values.yaml",
      "values.schema.json",
      "templates/NOTES.txt",
      "templates/crd-sites.sites.example.com.yaml",
      "templates/rbac.yaml",
      "templates/access-roles.yaml",
      "templates/services.yaml",
      "templates/deployment.yaml",
      "templates/network-policy.yaml",
      "templates/monitoring.yaml",
      "templates/webhooks.yaml",
    ]
  `);
  const text = (path: string) => files.find((file) => file.path === path)?.text;
  expect(text('Chart.yaml')).toMatchInlineSnapshot(`
    "apiVersion: v2
    name: site-operator
    description: The operator site-operator
    type: application
    version: 1.2.3
    appVersion: 1.2.3
    "
  `);
  expect(text('templates/deployment.yaml')).toMatchInlineSnapshot(`
    "apiVersion: apps/v1
    kind: Deployment
    metadata:
      name: site-operator
      namespace: {{ .Release.Namespace | quote }}
      labels:
        app.kubernetes.io/name: site-operator
        app.kubernetes.io/version: "1.2.3"
    spec:
      replicas: {{ toJson .Values.replicas }}
      strategy:
        type: RollingUpdate
        rollingUpdate:
          maxSurge: 1
          maxUnavailable: 0
      selector:
        matchLabels:
          app.kubernetes.io/name: site-operator
      template:
        metadata:
          labels:
            app.kubernetes.io/name: site-operator
          {{- with .Values.podAnnotations }}
          annotations:
            {{- toYaml . | nindent 8 }}
          {{- end }}
        spec:
          serviceAccountName: site-operator
          automountServiceAccountToken: true
          terminationGracePeriodSeconds: 45
          securityContext:
            runAsNonRoot: true
            seccompProfile:
              type: RuntimeDefault
          containers:
          - name: operator
            image: {{ printf "%v:%v" .Values.image.repository .Values.image.tag | quote }}
            env:
            - name: POD_NAME
              valueFrom:
                fieldRef:
                  fieldPath: metadata.name
            - name: POD_NAMESPACE
              valueFrom:
                fieldRef:
                  fieldPath: metadata.namespace
            - name: NODE_OPTIONS
              value: "--max-semi-space-size=4"
            {{- with .Values.env }}
            {{- toYaml . | nindent 8 }}
            {{- end }}
            ports:
            - name: health
              containerPort: 8081
            - name: metrics
              containerPort: 8080
            - name: webhooks
              containerPort: 9443
            livenessProbe:
              httpGet:
                path: "/healthz"
                port: health
              initialDelaySeconds: 10
              periodSeconds: 20
              timeoutSeconds: 5
            readinessProbe:
              httpGet:
                path: "/readyz"
                port: health
              periodSeconds: 10
              timeoutSeconds: 5
            {{- with .Values.resources }}
            resources:
              {{- toYaml . | nindent 10 }}
            {{- end }}
            securityContext:
              allowPrivilegeEscalation: false
              readOnlyRootFilesystem: true
              capabilities:
                drop:
                - ALL
            imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
          topologySpreadConstraints:
          - maxSkew: 1
            topologyKey: topology.kubernetes.io/zone
            whenUnsatisfiable: ScheduleAnyway
            labelSelector:
              matchLabels:
                app.kubernetes.io/name: site-operator
            matchLabelKeys:
            - pod-template-hash
          - maxSkew: 1
            topologyKey: kubernetes.io/hostname
            whenUnsatisfiable: ScheduleAnyway
            labelSelector:
              matchLabels:
                app.kubernetes.io/name: site-operator
            matchLabelKeys:
            - pod-template-hash
          {{- with .Values.imagePullSecrets }}
          imagePullSecrets:
            {{- toYaml . | nindent 8 }}
          {{- end }}
          {{- with .Values.nodeSelector }}
          nodeSelector:
            {{- toYaml . | nindent 8 }}
          {{- end }}
          {{- with .Values.tolerations }}
          tolerations:
            {{- toYaml . | nindent 8 }}
          {{- end }}
          {{- with .Values.affinity }}
          affinity:
            {{- toYaml . | nindent 8 }}
          {{- end }}
    ---
    apiVersion: policy/v1
    kind: PodDisruptionBudget
    metadata:
      name: site-operator
      namespace: {{ .Release.Namespace | quote }}
      labels:
        app.kubernetes.io/name: site-operator
    spec:
      maxUnavailable: 1
      selector:
        matchLabels:
          app.kubernetes.io/name: site-operator
    "
  `);
  expect(text('templates/crd-sites.sites.example.com.yaml')).toMatch(
    /^\{\{- if \.Values\.crds\.install \}\}\napiVersion: [\s\S]*helm\.sh\/resource-policy: keep[\s\S]*\{\{- end \}\}\n$/,
  );
  expect(text('templates/monitoring.yaml')).toContain('{{ "{{" }} $labels.controller }}');
  expect(text('values.yaml')).toMatchInlineSnapshot(`
    "# Pods at once; one leads, or they share the work.
    replicas: 2

    image:
      repository: registry.example.com/site-operator
      tag: 1.2.3
      # One of Always, IfNotPresent, Never
      pullPolicy: IfNotPresent

    # Secrets for the registry, e.g. [{ name: registry }].
    imagePullSecrets: []

    # Of the container.
    resources:
      requests:
        cpu: 50m
        memory: 128Mi
      limits:
        memory: 256Mi

    # Labels of the nodes that Pods may run on.
    nodeSelector: {}

    # Taints of nodes that Pods may run on nevertheless.
    tolerations: []

    # More rules for the nodes of Pods.
    affinity: {}

    # Annotations of Pods.
    podAnnotations: {}

    # More environment of the container, e.g. [{ name: LOG_LEVEL, value: debug }].
    env: []

    # Lets in only what the operator serves.
    networkPolicy: true

    # ServiceMonitor and PrometheusRule; needs the Prometheus operator.
    monitoring: false

    crds:
      # Installs and upgrades CustomResourceDefinitions. They stay when the release is uninstalled.
      install: true
    "
  `);
});

test('objects of the config are in the default chart, too', async () => {
  const custom = siteConfig({
    config: { objects: async (o) => [...(await deployment(o)), withData({ a: '1' }, { namespace: o.namespace })] },
  });
  const operator = await resolveOperator(custom);
  const files = await chartFiles(await defaultChart(custom, operator), operator);
  expect(files.find(({ path }) => path === 'templates/config-map.yaml')?.text).toContain(
    'namespace: {{ .Release.Namespace | quote }}',
  );
});

test.each([
  [
    { values: z.object({}), object: () => [] },
    'chart of "site-operator": unknown option "object"; did you mean "objects"?',
  ],
  [{ values: {}, objects: () => [] }, 'values must be a Standard JSON Schema'],
  [{ values: simple }, 'objects must be a function of values, got undefined'],
])('%j is refused', (options, message) => {
  expect(() => chart(config, options as never)).toThrow(message);
});
