// Stores the critic's values after a run of policy and critic, and copies the observations for the next run.

// Value of `reached` if there is no next run.
const NOTHING: u32 = 0xffffffffu;
struct Args { envs: u32, value: u32, kept: u32, reached: u32, shown: u32 }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) many: vec3<u32>,
        @builtin(local_invocation_index) local: u32) {
    let i = group_index(group, many) * THREADS + local;
    if (i < args.envs) { mem[args.kept + i] = mem[args.value + i]; }
    if (i < args.envs * FEATURES && args.reached != NOTHING) { mem[args.shown + i] = mem[args.reached + i]; }
}
