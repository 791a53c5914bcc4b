/** How much of everything is measured. */
export const counts = {
  /** Pods of the list, events of the watch. */
  pods: 50_000,
  /** Pods that informers hold, and events that they get. */
  informerSizes: [50_000, 10_000],
  informerEvents: 50_000,
  widgets: 1000,
  widgetEvents: 1000,
  idleKinds: 50,
  /** Controllers of one kind. */
  manyControllers: [1, 10, 100, 500],
  idleMs: 30_000,
  setSize: 500,
  setChanged: 5,
  writes: 500,
  watchers: 1000,
  listSizes: [5000, 50_000],
  kept: 100_000,
  delayed: 1_000_000,
  stored: 100_000,
  /** Admission reviews of each load, and those before that warm up. */
  reviews: 5000,
  reviewsWarmUp: 3000,
  /** Objects of an operator whose code is edited, and edits. */
  devObjects: 10_000,
  devEdits: 50,
  /** Objects of an operator with a dashboard, their changes a second, how long these are measured, and bursts. */
  dashboardObjects: 50_000,
  dashboardRate: 1000,
  dashboardSeconds: 10,
  dashboardBursts: 60,
  /** Megabytes through each stream, and those before that warm up. */
  streamMb: 128,
  streamWarmUpMb: 32,
};

/** Just enough to see that all of it works: its figures say nothing. */
export const quickCounts = {
  ...counts,
  ...{ pods: 1000, informerSizes: [1000, 500], informerEvents: 1000 },
  ...{ widgets: 40, widgetEvents: 50, idleMs: 2000, manyControllers: [1, 10], setSize: 50, setChanged: 1 },
  ...{ writes: 20, watchers: 20, listSizes: [100, 500], kept: 500, delayed: 5000, stored: 1000 },
  ...{ reviews: 400, reviewsWarmUp: 50, devObjects: 200, devEdits: 5, streamMb: 8, streamWarmUpMb: 1 },
  ...{ dashboardObjects: 1000, dashboardRate: 100, dashboardSeconds: 1, dashboardBursts: 3 },
};
