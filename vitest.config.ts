import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    globalSetup: "test/support/outbound-watch.ts",
    include: ["test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    slowTestThreshold: 10_000,
  },
})
