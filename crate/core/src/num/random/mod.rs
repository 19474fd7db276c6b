//! Random streams.
/// x
#[derive(Clone, Debug)]
pub struct RandomStream(u64);
impl RandomStream {
    /// x
    pub fn numpy(seed: u64) -> Self {
        Self(seed)
    }
    /// x
    pub fn rand(seed: u64) -> Self {
        Self(seed)
    }
    /// x
    pub fn normal(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    }
}
